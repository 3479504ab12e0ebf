import { put, putByte, putText } from './bytes';
import {
  ITEMS,
  OUTPUT,
  PAIR_AT,
  PAIR_TEXT,
  PROPERTIES_AT,
  PROPERTIES_BYTES,
  RECORD_CREATED,
  RECORD_OCCURRED,
  RECORDS,
  TEXT_FINGERPRINT_BYTES,
  TEXT_HEAD_BYTES,
  TEXT_JSON_BYTES,
  VALUE_AT,
  VALUE_BYTES,
} from './places';
import { closingQuote, putUntagged } from './properties';
import { base32 } from './siphash';
import { putTimestamp } from './timestamp';

const ID: string = '{"id":"use_';
const CUSTOMER: string = '","customerId":';
const METER: string = ',"meterId":';
const VALUE: string = ',"eventName":"usage.recorded","value":';
const OCCURRED: string = ',"status":"recorded","occurredAt":"';
const CREATED: string = '","createdAt":"';
const PROPERTIES: string = '","properties":';

/** Writes the stored event of a single request to OUTPUT, returns its length. */
export function event(numbersAsText: bool): i32 {
  const texts = load<i32>(load<i32>(ITEMS + PAIR_AT) + PAIR_TEXT);
  // Environment, customer and meter as JSON texts; the first two hold nothing that is escaped.
  const names = texts + TEXT_HEAD_BYTES + load<i32>(texts + TEXT_FINGERPRINT_BYTES);
  const customer = closingQuote(names + 1) + 2;
  const meter = closingQuote(customer + 1) + 2;
  let to = base32(RECORDS, putText(ID, OUTPUT));
  to = put(customer, meter - 1 - customer, putText(CUSTOMER, to));
  to = put(meter, names + load<i32>(texts + TEXT_JSON_BYTES) - meter, putText(METER, to));
  to = putText(VALUE, to);
  if (numbersAsText) to = putByte(34, to);
  to = put(load<i32>(ITEMS + VALUE_AT), load<i32>(ITEMS + VALUE_BYTES), to);
  if (numbersAsText) to = putByte(34, to);
  to = putTimestamp(load<f64>(RECORDS + RECORD_OCCURRED), putText(OCCURRED, to));
  to = putTimestamp(load<f64>(RECORDS + RECORD_CREATED), putText(CREATED, to));
  if (load<i32>(ITEMS + PROPERTIES_BYTES) == 2) to = putByte(34, to);
  else to = putUntagged(load<i32>(ITEMS + PROPERTIES_AT), putText(PROPERTIES, to));
  return putByte(125, to) - OUTPUT;
}
