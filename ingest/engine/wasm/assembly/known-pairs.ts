import { isSame } from './bytes';
import { hash, pairCount, pairPlace } from './pairs';
import {
  KNOWN_SLOTS,
  PAIR_CUSTOMER_AT,
  PAIR_CUSTOMER_BYTES,
  PAIR_METER_AT,
  PAIR_METER_BYTES,
  PAIR_TEXT,
  TEXT_CUSTOMER_BYTES,
  TEXT_ENVIRONMENT,
  TEXT_FINGERPRINT_BYTES,
  TEXT_HEAD_BYTES,
  TEXT_JSON_BYTES,
  TEXT_MEMBER_BYTES,
  TEXT_METER_BYTES,
} from './places';

// Pairs whose names were looked up outside, in a table by environment and names. It forgets: a pair that is
// not found is looked up again.
const SLOTS: i32 = 131_072;
const STEPS_MAX: i32 = 8;

/** Where the pair that was searched last belongs. */
let ownSlot: i32 = 0;

export function forgetKnown(): void {
  memory.fill(KNOWN_SLOTS, 0, SLOTS << 2);
}

/**
 * Gives the request's pairs their texts, from this one on. Returns the first that is not known, or their
 * count.
 */
export function findKnown(environment: i32, from: i32): i32 {
  const count = pairCount();
  for (let index = from; index < count; index++) {
    const pair = pairPlace(index);
    const texts = textsOf(environment, pair);
    if (texts == 0) return index;
    store<i32>(pair + PAIR_TEXT, texts);
  }
  return count;
}

/** The texts of the pair that `findKnown` has just not found. */
export function putKnown(index: i32, texts: i32): void {
  store<i32>(pairPlace(index) + PAIR_TEXT, texts);
  store<i32>(ownSlot, texts);
}

/** 0 where they are not known. */
function textsOf(environment: i32, pair: i32): i32 {
  const customer = load<i32>(pair + PAIR_CUSTOMER_AT);
  const customerBytes = load<i32>(pair + PAIR_CUSTOMER_BYTES);
  const meter = load<i32>(pair + PAIR_METER_AT);
  const meterBytes = load<i32>(pair + PAIR_METER_BYTES);
  const first = hash(customer, customerBytes, hash(meter, meterBytes, environment));
  // Where all are taken the first one is given up: names chosen to collide cost no more than a look outside.
  ownSlot = slotPlace(first);
  for (let step = 0; step < STEPS_MAX; step++) {
    const slot = slotPlace(first + step);
    const texts = load<i32>(slot);
    if (texts == 0) {
      ownSlot = slot;
      return 0;
    }
    const names = namesIn(texts);
    const isIt =
      load<i32>(texts + TEXT_ENVIRONMENT) == environment &&
      load<i32>(texts + TEXT_CUSTOMER_BYTES) == customerBytes &&
      load<i32>(texts + TEXT_METER_BYTES) == meterBytes &&
      isSame(names, customer, customerBytes) &&
      isSame(names + customerBytes, meter, meterBytes);
    if (isIt) return texts;
  }
  return 0;
}

function slotPlace(number: u32): i32 {
  return KNOWN_SLOTS + ((number & (SLOTS - 1)) << 2);
}

/** Behind the texts that are written. The member's length is below 0 where there is none. */
function namesIn(texts: i32): i32 {
  const ahead = load<i32>(texts + TEXT_FINGERPRINT_BYTES) + load<i32>(texts + TEXT_JSON_BYTES);
  return texts + TEXT_HEAD_BYTES + ahead + max(load<i32>(texts + TEXT_MEMBER_BYTES), 0);
}
