import {
  ENVIRONMENTS,
  METERS,
  NAMES,
  NAMES_BYTES,
  NAMES_CUSTOMER,
  NAMES_ENVIRONMENT,
  NAMES_ENVIRONMENT_INDEX,
  NAMES_HASH,
  NAMES_LENGTH,
  NAMES_METER,
  NAMES_METER_INDEX,
  NAMES_RANK,
  RANKED,
  SLOT_MASK,
  SLOTS,
  SPARE_RANKED,
  TEXT_BYTES,
} from './places';
import { isSame, order } from './texts';

export let namesCount: i32 = 0;
export let environmentCount: i32 = 0;
export let meterCount: i32 = 0;
let hashSeed: u64 = 0;

/** Random, for each process: who chooses names cannot make their hashes meet. */
export function setSeed(seed: u64): void {
  hashSeed = seed;
}

export function clearNames(): void {
  namesCount = 0;
  clearSlots();
}

function clearSlots(): void {
  memory.fill(SLOTS, 0, (SLOT_MASK + 1) * 4);
}

/** The number of the names of a row; all three are between `at` and `at + bytes`. */
export function namesOf(at: i32, bytes: i32): i32 {
  const hash = hashOf(at, bytes);
  let slot = <i32>hash & SLOT_MASK;
  for (;;) {
    const index = load<i32>(SLOTS + slot * 4) - 1;
    if (index < 0) break;
    const names = NAMES + index * NAMES_BYTES;
    const isIt = load<u64>(names + NAMES_HASH) == hash && load<i32>(names + NAMES_LENGTH) == bytes;
    if (isIt && isSame(load<i32>(names + NAMES_ENVIRONMENT) - 1, at, bytes)) return index;
    slot = (slot + 1) & SLOT_MASK;
  }
  store<i32>(SLOTS + slot * 4, ++namesCount);
  const names = NAMES + (namesCount - 1) * NAMES_BYTES;
  store<u64>(names + NAMES_HASH, hash);
  store<i32>(names + NAMES_LENGTH, bytes);
  return -namesCount;
}

export function setNames(
  names: i32,
  environment: i32,
  environmentEnd: i32,
  customerEnd: i32,
  meterEnd: i32,
): void {
  setText(names + NAMES_ENVIRONMENT, environment, environmentEnd);
  setText(names + NAMES_CUSTOMER, environmentEnd + 3, customerEnd);
  setText(names + NAMES_METER, customerEnd + 3, meterEnd);
}

function setText(place: i32, from: i32, end: i32): void {
  store<i32>(place, from);
  store<i32>(place + 4, end - from);
}

function hashOf(at: i32, bytes: i32): u64 {
  let hash = hashSeed ^ <u64>bytes;
  let done = 0;
  for (; done + 8 <= bytes; done += 8) hash = mixed(hash ^ load<u64>(at + done));
  for (; done < bytes; done++) hash = mixed(hash ^ load<u8>(at + done));
  return hash;
}

function mixed(value: u64): u64 {
  const product = value * 0xff51afd7ed558ccd;
  return product ^ (product >> 32);
}

/** Gives each its rank in the order of the table's key, and its places in the dictionaries. */
export function rankNames(): void {
  for (let index = 0; index < namesCount; index++) store<i32>(RANKED + index * 4, index);
  sortRanked();
  clearSlots();
  environmentCount = 0;
  meterCount = 0;
  for (let rank = 0; rank < namesCount; rank++) {
    const names = NAMES + load<i32>(RANKED + rank * 4) * NAMES_BYTES;
    store<i32>(names + NAMES_RANK, rank);
    store<i32>(names + NAMES_ENVIRONMENT_INDEX, environmentIndex(names + NAMES_ENVIRONMENT));
    store<i32>(names + NAMES_METER_INDEX, meterIndex(names + NAMES_METER));
  }
}

/** Merges stretches of twice the length each time. */
function sortRanked(): void {
  let from = RANKED;
  let to = SPARE_RANKED;
  for (let length = 1; length < namesCount; length *= 2) {
    for (let first = 0; first < namesCount; first += 2 * length) merge(from, to, first, length);
    const other = from;
    from = to;
    to = other;
  }
  if (from != RANKED) memory.copy(RANKED, from, namesCount * 4);
}

function merge(from: i32, to: i32, first: i32, length: i32): void {
  const middle = min(first + length, namesCount);
  const end = min(first + 2 * length, namesCount);
  let left = first;
  let right = middle;
  for (let at = first; at < end; at++) {
    const isLeft = right == end || (left < middle && !isBefore(from + right * 4, from + left * 4));
    store<i32>(to + at * 4, load<i32>(from + (isLeft ? left++ : right++) * 4));
  }
}

function isBefore(a: i32, b: i32): bool {
  const left = NAMES + load<i32>(a) * NAMES_BYTES;
  const right = NAMES + load<i32>(b) * NAMES_BYTES;
  for (let text = NAMES_ENVIRONMENT; text <= NAMES_METER; text += TEXT_BYTES) {
    const difference = orderOfTexts(left + text, right + text);
    if (difference != 0) return difference < 0;
  }
  return false;
}

function orderOfTexts(a: i32, b: i32): i32 {
  return order(load<i32>(a), load<i32>(a + 4), load<i32>(b), load<i32>(b + 4));
}

/** Ranked by the environment first: the same ones are behind one another. */
function environmentIndex(text: i32): i32 {
  const last = ENVIRONMENTS + (environmentCount - 1) * TEXT_BYTES;
  if (environmentCount > 0 && orderOfTexts(last, text) == 0) return environmentCount - 1;
  store<u64>(ENVIRONMENTS + environmentCount * TEXT_BYTES, load<u64>(text));
  return environmentCount++;
}

function meterIndex(text: i32): i32 {
  let slot = <i32>hashOf(load<i32>(text), load<i32>(text + 4)) & SLOT_MASK;
  for (;;) {
    const index = load<i32>(SLOTS + slot * 4) - 1;
    if (index < 0) break;
    if (orderOfTexts(METERS + index * TEXT_BYTES, text) == 0) return index;
    slot = (slot + 1) & SLOT_MASK;
  }
  store<u64>(METERS + meterCount * TEXT_BYTES, load<u64>(text));
  store<i32>(SLOTS + slot * 4, ++meterCount);
  return meterCount - 1;
}
