import { isSame } from './bytes';
import {
  PAIR_BYTES,
  PAIR_CREATED,
  PAIR_CUSTOMER_AT,
  PAIR_CUSTOMER_BYTES,
  PAIR_METER_AT,
  PAIR_METER_BYTES,
  PAIR_SLOTS,
  PAIRS,
} from './places';

// A pair is a (customer, meter): the word of this module's exports and of stored frames.
const SLOTS: i32 = 1024;
/** Names chosen to collide must not make a request slow: beyond this the js engine takes it. */
const STEPS_MAX: i32 = 32;

let count: i32 = 0;
/** A slot of an earlier request is an empty one. */
let generation: u32 = 0;

export function forgetPairs(): void {
  count = 0;
  generation++;
}

export function pairCount(): i32 {
  return count;
}

export function pairPlace(index: i32): i32 {
  return PAIRS + index * PAIR_BYTES;
}

/** The pair of these two names in this request, a new one if need be; 0 when the search goes too far. */
export function pairOf(customer: i32, customerBytes: i32, meter: i32, meterBytes: i32): i32 {
  let slot = hash(customer, customerBytes, hash(meter, meterBytes, 0x9e3779b9)) & (SLOTS - 1);
  for (let step = 0; step < STEPS_MAX; step++, slot = (slot + 1) & (SLOTS - 1)) {
    const place = PAIR_SLOTS + slot * 8;
    if (load<u32>(place) != generation) {
      const made = make(customer, customerBytes, meter, meterBytes);
      store<u32>(place, generation);
      store<i32>(place + 4, made);
      return made;
    }
    const known = load<i32>(place + 4);
    const isIt =
      load<i32>(known + PAIR_CUSTOMER_BYTES) == customerBytes &&
      load<i32>(known + PAIR_METER_BYTES) == meterBytes &&
      isSame(load<i32>(known + PAIR_CUSTOMER_AT), customer, customerBytes) &&
      isSame(load<i32>(known + PAIR_METER_AT), meter, meterBytes);
    if (isIt) return known;
  }
  return 0;
}

function make(customer: i32, customerBytes: i32, meter: i32, meterBytes: i32): i32 {
  const pair = pairPlace(count++);
  store<i32>(pair + PAIR_CUSTOMER_AT, customer);
  store<i32>(pair + PAIR_CUSTOMER_BYTES, customerBytes);
  store<i32>(pair + PAIR_METER_AT, meter);
  store<i32>(pair + PAIR_METER_BYTES, meterBytes);
  store<i32>(pair + PAIR_CREATED, 0);
  return pair;
}

/** 2^64 by the golden ratio. */
const SPREAD: u64 = 0x9e3779b97f4a7c15;

/** Spreads well enough for ordinary names; see STEPS_MAX for names chosen to collide. */
export function hash(at: i32, bytes: i32, seed: u32): u32 {
  let mixed = <u64>seed ^ <u64>bytes;
  for (; bytes >= 8; at += 8, bytes -= 8) {
    mixed = (rotl<u64>(mixed, 29) ^ load<u64>(at)) * SPREAD;
  }
  const rest = load<u64>(at) & (((<u64>1) << (<u64>(bytes << 3))) - 1);
  mixed = (rotl<u64>(mixed, 29) ^ rest) * SPREAD;
  // A product carries upwards: the highest bytes of a word have to come down once more.
  return <u32>(((mixed ^ (mixed >>> 32)) * SPREAD) >>> 32);
}
