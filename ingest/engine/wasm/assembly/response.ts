import { put, putByte, putDecimal, putText } from './bytes';
import {
  CREATED,
  DUPLICATE,
  ITEM_BYTES,
  ITEMS,
  KEY_AT,
  KEY_BYTES,
  OUTCOMES,
  OUTPUT,
  RECORD_BYTES,
  RECORDS,
  REUSED,
} from './places';
import { base32 } from './siphash';

// Pieces of the response, one after the other in one text; `putText` copies one of them.
const SUMMARY: string = '{"summary":{"total":';
const OF_CREATED: string = ',"created":';
const OF_DUPLICATE: string = ',"duplicate":';
const OF_ERRORS: string = ',"errors":';
const RESULTS: string = '},"results":[';
const INDEX: string = '{"index":';
const KEY: string = ',"idempotencyKey":"';
const IS_CREATED: string = '","status":"created","eventId":"use_';
const IS_DUPLICATE: string = '","status":"duplicate","eventId":"use_';

/** Writes a batch's response to OUTPUT, returns its length. The result for a reused key has `reusedBytes`. */
export function response(count: i32, created: i32, duplicate: i32, reusedBytes: i32): i32 {
  let to = putText(SUMMARY, OUTPUT);
  to = putDecimal(count, to);
  to = putDecimal(created, putText(OF_CREATED, to));
  to = putDecimal(duplicate, putText(OF_DUPLICATE, to));
  to = putDecimal(count - created - duplicate, putText(OF_ERRORS, to));
  to = putText(RESULTS, to);
  for (let index = 0; index < count; index++) {
    if (index > 0) to = putByte(44, to);
    to = result(index, reusedBytes, to);
  }
  store<u16>(to, 0x7d5d); // ]}
  return to + 2 - OUTPUT;
}

function result(index: i32, reusedBytes: i32, to: i32): i32 {
  const item = ITEMS + index * ITEM_BYTES;
  const outcome = load<u8>(OUTCOMES + index);
  to = putDecimal(index, putText(INDEX, to));
  to = put(load<i32>(item + KEY_AT), load<i32>(item + KEY_BYTES), putText(KEY, to));
  if (outcome != CREATED && outcome != DUPLICATE) return put(REUSED, reusedBytes, to);
  to = putText(outcome == CREATED ? IS_CREATED : IS_DUPLICATE, to);
  to = base32(RECORDS + index * RECORD_BYTES, to);
  store<u16>(to, 0x7d22); // "}
  return to + 2;
}
