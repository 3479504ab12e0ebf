// The newest keys: up to four generations, each a table of slots over its records. A slot is a word: twelve
// low bits of the id's first word (the tag) and the record's number + 1, zero when free. The home of an id
// follows from its first bits, so that a walk along the slots meets the ids in the order of the sealed files.

import {
  COLD,
  FOUND,
  FOUND_RECORDS,
  GENERATIONS,
  generationKeys,
  OUTCOMES,
  READ_ONLY,
  RECORD_BYTES,
  STAGE,
  slotBits,
  take,
} from './places';

const SLOTS_AT: i32 = 0;
const RECORDS_AT: i32 = 4;
const COUNT: i32 = 8;
const BASE: i32 = 12;
/** 1 where a record has a time that is no whole number of 48 bits. */
const WIDE: i32 = 16;

const ABSENT: i32 = 0;
const CREATED: i32 = 1;
const DUPLICATE: i32 = 2;
const REUSED: i32 = 3;
const FULL: i32 = 2;

/** Numbers: of the oldest that is kept, of the oldest that no sealed file has, of the newest. */
let kept: i32 = 0;
let oldest: i32 = 0;
let newest: i32 = 0;
/** What `find` found: the record, and its number. */
let foundAt: usize = 0;
let foundNumber: u32 = 0;

function placeOf(generation: i32): i32 {
  return GENERATIONS + ((generation & 3) << 5);
}

function homeOf(tag: u32): u32 {
  return tag >> (32 - slotBits);
}

const NUMBER_BITS: u32 = 20;
const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

function slotOf(tag: u32, record: u32): u32 {
  return (tag << NUMBER_BITS) | (record + 1);
}

function slotMask(): u32 {
  return ((<u32>1) << slotBits) - 1;
}

/** Gives it its place in memory, for good. */
export function reserveGeneration(generation: i32): bool {
  const place = placeOf(generation);
  const slotBytes = (<usize>4) << slotBits;
  if (load<u32>(place, SLOTS_AT) != 0) return true;
  const at = take(slotBytes + <usize>generationKeys * RECORD_BYTES);
  if (at == 0) return false;
  store<u32>(place, <u32>at, SLOTS_AT);
  store<u32>(place, <u32>(at + slotBytes), RECORDS_AT);
  return true;
}

/** Begins an empty generation, whose first record gets this number. Returns 0 when there is no memory. */
export function beginGeneration(generation: i32, base: u32): i32 {
  const place = placeOf(generation);
  if (!reserveGeneration(generation)) return 0;
  if (load<u32>(place, COUNT) > 0) memory.fill(load<u32>(place, SLOTS_AT), 0, (<usize>4) << slotBits);
  store<u32>(place, 0, COUNT);
  store<u32>(place, 0, WIDE);
  store<u32>(place, base, BASE);
  return 1;
}

export function search(firstKept: i32, first: i32, last: i32): void {
  kept = firstKept;
  oldest = first;
  newest = last;
}

export function countOf(generation: i32): u32 {
  return load<u32>(placeOf(generation), COUNT);
}

export function isWide(generation: i32): i32 {
  return load<i32>(placeOf(generation), WIDE);
}

function isNarrowTime(bits: u64): bool {
  const time = reinterpret<f64>(bits);
  return time >= 0 && time < 281474976710656.0 && reinterpret<u64>(<f64>(<u64>time)) == bits;
}

function hasSameId(record: usize, id: usize): bool {
  return load<u64>(record) == load<u64>(id) && load<u64>(record, 8) == load<u64>(id, 8);
}

/** Among those that no sealed file has, newest first: a retry mostly comes soon. */
export function find(id: usize): bool {
  for (let generation = newest; generation >= oldest; generation--) if (findIn(generation, id)) return true;
  return false;
}

/** Among those that a sealed file has and that are still here. Copies the record. */
export function findKept(id: usize, to: usize): bool {
  for (let generation = oldest - 1; generation >= kept; generation--) {
    if (!findIn(generation, id)) continue;
    copyRecord(to, foundAt);
    return true;
  }
  return false;
}

function findIn(generation: i32, id: usize): bool {
  const word = load<u32>(id);
  const place = placeOf(generation);
  const slots = <usize>load<u32>(place, SLOTS_AT);
  for (let slot = homeOf(word); ; slot = (slot + 1) & slotMask()) {
    const taken = load<u32>(slots + ((<usize>slot) << 2));
    if (taken == 0) return false;
    if ((taken ^ (word << NUMBER_BITS)) > NUMBER_MASK) continue;
    const record = (taken & NUMBER_MASK) - 1;
    const at = <usize>load<u32>(place, RECORDS_AT) + <usize>record * RECORD_BYTES;
    if (!hasSameId(at, id)) continue;
    foundAt = at;
    foundNumber = load<u32>(place, BASE) + record;
    return true;
  }
}

function copyRecord(to: usize, from: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  store<u64>(to, load<u64>(from, 32), 32);
}

/** The id is not known, and the newest generation has room. */
function insert(id: usize): void {
  const place = placeOf(newest);
  const record = load<u32>(place, COUNT);
  const to = <usize>load<u32>(place, RECORDS_AT) + <usize>record * RECORD_BYTES;
  copyRecord(to, id);
  if (!isNarrowTime(load<u64>(id, 24)) || !isNarrowTime(load<u64>(id, 32))) store<u32>(place, 1, WIDE);
  store<u32>(place, record + 1, COUNT);
  const slots = <usize>load<u32>(place, SLOTS_AT);
  const word = load<u32>(id);
  let slot = homeOf(word);
  while (load<u32>(slots + ((<usize>slot) << 2)) != 0) slot = (slot + 1) & slotMask();
  store<u32>(slots + ((<usize>slot) << 2), slotOf(word, record));
}

function recall(known: usize, repeat: usize): i32 {
  if (load<u64>(known, 16) != load<u64>(repeat, 16)) return REUSED;
  v128.store(repeat, v128.load(known, 24), 24);
  return DUPLICATE;
}

let warmed: u32 = 0;

/** Brings the home slots of a batch nearer: these reads do not wait for each other, searches do. */
export function warm(count: i32): void {
  let seen: u32 = 0;
  for (let generation = newest; generation >= oldest; generation--) {
    const slots = <usize>load<u32>(placeOf(generation), SLOTS_AT);
    for (let id = STAGE, end = STAGE + count * RECORD_BYTES; id < end; id += RECORD_BYTES) {
      seen ^= load<u32>(slots + ((<usize>homeOf(load<u32>(id))) << 2));
    }
  }
  warmed = seen; // else the compiler may drop the reads as unused
}

/**
 * Judges what is at STAGE, in order. Of cold items it is known by now whether a sealed file has them. Returns
 * 1 when an item repeats a record from `confirmed` on, and FULL when a new one had no room: all are taken
 * back then.
 */
export function claim(count: i32, confirmed: u32): i32 {
  let waits = 0;
  for (let item = 0; item < count; item++) {
    const id = STAGE + item * RECORD_BYTES;
    if (load<u8>(COLD + item) != 0 && load<u8>(FOUND + item) != 0) {
      store<u8>(OUTCOMES + item, recall(FOUND_RECORDS + item * RECORD_BYTES, id));
    } else if (find(id)) {
      store<u8>(OUTCOMES + item, recall(foundAt, id));
      if (foundNumber >= confirmed) waits = 1;
    } else if (load<u8>(READ_ONLY + item) == 1) store<u8>(OUTCOMES + item, ABSENT);
    else if (load<i32>(placeOf(newest), COUNT) == generationKeys) return FULL;
    else {
      insert(id);
      store<u8>(OUTCOMES + item, CREATED);
    }
  }
  return waits;
}

/** Puts what is at STAGE into the newest generation, whether or not it is known. */
export function addAll(count: i32): void {
  for (let item = 0; item < count; item++) insert(STAGE + item * RECORD_BYTES);
}

/** Forgets this record and all newer ones, newest first: a record's number is given again. */
export function takeBack(generation: i32, first: u32): void {
  const place = placeOf(generation);
  for (let record = load<u32>(place, COUNT); record > first; record--) remove(place, record);
  store<u32>(place, first, COUNT);
}

/** Slots behind move up, so that no search ends early. */
function remove(place: i32, number: u32): void {
  const slots = <usize>load<u32>(place, SLOTS_AT);
  const mask = slotMask();
  let hole = homeOf(load<u32>(recordAt(place, number)));
  while ((load<u32>(slots + ((<usize>hole) << 2)) & NUMBER_MASK) != number) hole = (hole + 1) & mask;
  for (let slot = (hole + 1) & mask; ; slot = (slot + 1) & mask) {
    const taken = load<u32>(slots + ((<usize>slot) << 2));
    if (taken == 0) break;
    const home = homeOf(load<u32>(recordAt(place, taken & NUMBER_MASK)));
    if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
    store<u32>(slots + ((<usize>hole) << 2), taken);
    hole = slot;
  }
  store<u32>(slots + ((<usize>hole) << 2), 0);
}

/** `number` as a slot has it: one more than the record's. */
function recordAt(place: i32, number: u32): usize {
  return <usize>load<u32>(place, RECORDS_AT) + <usize>(number - 1) * RECORD_BYTES;
}

/**
 * Copies the records whose home is in [from, to), in no order. Returns how many. At `scratch` is room for so
 * many words and one more.
 */
export function copyBetween(
  generation: i32,
  from: u32,
  to: u32,
  into: usize,
  roomFor: u32,
  scratch: usize,
): u32 {
  const place = placeOf(generation);
  const found = listTaken(<usize>load<u32>(place, SLOTS_AT), from, to, scratch, roomFor);
  let copied: u32 = 0;
  // Apart from the walk along the slots: these reads do not wait for each other. 24 instead of 50 ns a key.
  for (let nth: u32 = 0; nth < found; nth++) {
    const record = recordAt(place, load<u32>(scratch + ((<usize>nth) << 2)) & NUMBER_MASK);
    const home = homeOf(load<u32>(record));
    if (home < from || home >= to) continue;
    copyRecord(into + <usize>copied * RECORD_BYTES, record);
    copied++;
  }
  return copied;
}

/** Returns how many. Does not branch by what is in a slot: that is chance. */
function listTaken(slots: usize, from: u32, to: u32, list: usize, roomFor: u32): u32 {
  let found: u32 = 0;
  for (let slot = from; slot < to; slot++) {
    const taken = load<u32>(slots + ((<usize>slot) << 2));
    store<u32>(list + ((<usize>found) << 2), taken);
    found += <u32>(taken != 0);
    if (found > roomFor) unreachable();
  }
  // Behind `to` as far as the run of taken slots goes: it may hold what found no place before.
  for (let slot = to; slot < from + slotMask() + 1; slot++) {
    const taken = load<u32>(slots + ((<usize>(slot & slotMask())) << 2));
    if (taken == 0) break;
    store<u32>(list + ((<usize>found) << 2), taken);
    found++;
    if (found > roomFor) unreachable();
  }
  return found;
}
