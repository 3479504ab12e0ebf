import { put, putByte, putLong } from './bytes';
import {
  CREATED,
  ITEM_BYTES,
  ITEMS,
  NUMBERS,
  OUTCOMES,
  OUTPUT,
  PAIR_AT,
  PAIR_BYTES,
  PAIR_CREATED,
  PAIR_FROM,
  PAIR_TEXT,
  PAIR_TO,
  PAIRS,
  PROPERTIES_AT,
  PROPERTIES_BYTES,
  RECORD_BYTES,
  RECORD_OCCURRED,
  RECORDS,
  TEXT_FINGERPRINT_BYTES,
  TEXT_HEAD_BYTES,
  TEXT_JSON_BYTES,
  TEXT_MEMBER_BYTES,
  VALUE_AT,
  VALUE_BYTES,
} from './places';
import { closingQuote, valueOf } from './properties';

const QUOTE: u8 = 34;
const COMMA: u8 = 44;
/** In place of the length of a counted property; see customer-meter-texts.ts. */
const OF_LATEST: i32 = -1;
const ARRIVAL_DIGITS: i32 = 6;
const ARRIVALS_MAX: i32 = 999_999;

/**
 * Writes the short lines of the created events to OUTPUT and returns their length; moves their records to the
 * front, numbers their pairs and collects the span of each pair.
 */
export function lines(count: i32, arrival: i32): i32 {
  let to = OUTPUT;
  let kept = RECORDS;
  let number = NUMBERS;
  for (let index = 0; index < count; index++) {
    if (load<u8>(OUTCOMES + index) != CREATED) continue;
    const item = ITEMS + index * ITEM_BYTES;
    const record = RECORDS + index * RECORD_BYTES;
    const pair = load<i32>(item + PAIR_AT);
    to = line(item, load<i32>(pair + PAIR_TEXT), arrival + index, to);
    store<u16>(number, <u16>((pair - PAIRS) / PAIR_BYTES));
    number += 2;
    touch(pair, load<f64>(record + RECORD_OCCURRED));
    if (kept != record) put(record, RECORD_BYTES, kept);
    kept += RECORD_BYTES;
  }
  return to - OUTPUT;
}

/** schemas/stored/row-lines.ts */
function line(item: i32, texts: i32, arrival: i32, to: i32): i32 {
  to = put(load<i32>(item + VALUE_AT), load<i32>(item + VALUE_BYTES), to);
  to = countedValue(item, texts, arrival, putByte(COMMA, to));
  to = putByte(COMMA, to);
  to = putLong(load<i32>(item + PROPERTIES_AT), load<i32>(item + PROPERTIES_BYTES), to);
  return putByte(10, to);
}

/**
 * The counted property with '=' before it, the order of arrival of a `latest` meter; nothing for other meters
 * and for events that do not have the property.
 */
function countedValue(item: i32, texts: i32, arrival: i32, to: i32): i32 {
  to = putByte(QUOTE, to);
  const keyBytes = load<i32>(texts + TEXT_MEMBER_BYTES);
  if (keyBytes == OF_LATEST) to = putArrival(arrival, to);
  if (keyBytes > 0) {
    const key =
      texts +
      TEXT_HEAD_BYTES +
      load<i32>(texts + TEXT_FINGERPRINT_BYTES) +
      load<i32>(texts + TEXT_JSON_BYTES);
    const properties = load<i32>(item + PROPERTIES_AT);
    const value = valueOf(properties, load<i32>(item + PROPERTIES_BYTES), key, keyBytes);
    if (value != 0) to = put(value, closingQuote(value) - value, putByte(61, to));
  }
  return putByte(QUOTE, to);
}

/** `arrivalText` of schemas/stored/event-row.ts. */
function putArrival(arrival: i32, to: i32): i32 {
  let rest = min(arrival, ARRIVALS_MAX);
  store<u8>(to, 35);
  for (let at = to + ARRIVAL_DIGITS; at > to; at--) {
    store<u8>(at, <u8>(48 + (rest % 10)));
    rest /= 10;
  }
  return to + ARRIVAL_DIGITS + 1;
}

function touch(pair: i32, occurredAtMs: f64): void {
  const isFirst = load<i32>(pair + PAIR_CREATED) == 0;
  store<i32>(pair + PAIR_CREATED, 1);
  if (isFirst || occurredAtMs < load<f64>(pair + PAIR_FROM)) store<f64>(pair + PAIR_FROM, occurredAtMs);
  if (isFirst || occurredAtMs > load<f64>(pair + PAIR_TO)) store<f64>(pair + PAIR_TO, occurredAtMs);
}
