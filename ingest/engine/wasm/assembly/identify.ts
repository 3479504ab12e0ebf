import { put, putByte, putLong } from './bytes';
import {
  HASHED,
  ITEM_BYTES,
  ITEMS,
  KEY_AT,
  KEY_BYTES,
  KEYS,
  OCCURRED_AT,
  PAIR_AT,
  PAIR_TEXT,
  PROPERTIES_AT,
  PROPERTIES_BYTES,
  RECORD_BYTES,
  RECORD_CREATED,
  RECORD_FINGERPRINT,
  RECORD_OCCURRED,
  RECORDS,
  TEXT_FINGERPRINT_BYTES,
  TEXT_HEAD_BYTES,
  VALUE_AT,
  VALUE_BYTES,
} from './places';
import { siphash64, siphash128 } from './siphash';

/** Whether every time that was sent lies within the limits. */
export function isTimely(count: i32, oldestMs: f64, newestMs: f64): bool {
  for (let index = 0; index < count; index++) {
    const occurredAt = load<f64>(ITEMS + index * ITEM_BYTES + OCCURRED_AT);
    if (occurredAt < oldestMs || occurredAt > newestMs) return false;
  }
  return true;
}

/** Makes a record of every item. An event that names no time occurred now. */
export function identify(count: i32, nowMs: f64): void {
  for (let index = 0; index < count; index++) {
    const item = ITEMS + index * ITEM_BYTES;
    const record = RECORDS + index * RECORD_BYTES;
    const sent = load<f64>(item + OCCURRED_AT);
    siphash128(KEYS, load<i32>(item + KEY_AT), load<i32>(item + KEY_BYTES), record);
    siphash64(KEYS + 16, HASHED, fingerprintText(item), record + RECORD_FINGERPRINT);
    store<f64>(record + RECORD_OCCURRED, isNaN(sent) ? nowMs : sent);
    store<f64>(record + RECORD_CREATED, nowMs);
  }
}

/** Leaves it at HASHED and returns its length: byte by byte as the js engine does. */
function fingerprintText(item: i32): i32 {
  const texts = load<i32>(load<i32>(item + PAIR_AT) + PAIR_TEXT);
  let to = putLong(texts + TEXT_HEAD_BYTES, load<i32>(texts + TEXT_FINGERPRINT_BYTES), HASHED);
  to = put(load<i32>(item + VALUE_AT), load<i32>(item + VALUE_BYTES), to);
  to = putByte(0, to);
  to = putLong(load<i32>(item + PROPERTIES_AT), load<i32>(item + PROPERTIES_BYTES), to);
  return to - HASHED;
}
