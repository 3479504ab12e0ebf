/**
 * What the rollups find again: texts of a kind, and two numbers of a kind. An entry: hash; kind; place and
 * length of the text, or both numbers; then six words of 32 bits, 0 at first, that are the kind's own.
 */
import { ENTRIES, ENTRY_BYTES, ENTRY_SLOTS, ENTRY_SLOTS_MIN } from './places';
import { isSame } from './texts';

const ENTRY_KIND: i32 = 8;
export const ENTRY_FIRST: i32 = 12; // place of the text, or the first number
export const ENTRY_SECOND: i32 = 16;
/** Of a text that is in a dictionary: its number there, from 1 on. */
export const ENTRY_WORD: i32 = 20;

/** The entry that was given is new. */
export let isNewEntry: bool = false;

let hashSeed: u64 = 0;
let end: i32 = 0;
let count: i32 = 0;
let mask: i32 = 0;

/** `seed` is random: a client that chooses texts cannot make their hashes meet. */
export function beginEntries(seed: u64): void {
  hashSeed = seed;
  end = ENTRIES;
  count = 0;
  mask = ENTRY_SLOTS_MIN - 1;
  memory.fill(ENTRY_SLOTS, 0, ENTRY_SLOTS_MIN * 4);
}

export function textEntry(kind: i32, at: i32, bytes: i32): i32 {
  let hash = mixed(hashSeed ^ (((<u64>kind) << 32) | <u64>bytes));
  let done = 0;
  for (; done + 8 <= bytes; done += 8) hash = mixed(hash ^ load<u64>(at + done));
  // Bytes behind a text may be read.
  if (done < bytes) hash = mixed(hash ^ (load<u64>(at + done) & (~(<u64>0) >> ((8 - bytes + done) << 3))));
  let slot = <i32>hash & mask;
  for (let entry = entryIn(slot); entry != 0; entry = entryIn(slot)) {
    if (isLike(entry, hash, kind) && isText(entry, at, bytes)) return found(entry);
    slot = (slot + 1) & mask;
  }
  return addEntry(slot, hash, kind, at, bytes);
}

function isText(entry: i32, at: i32, bytes: i32): bool {
  return load<i32>(entry + ENTRY_SECOND) == bytes && isSame(load<i32>(entry + ENTRY_FIRST), at, bytes);
}

export function pairEntry(kind: i32, first: i32, second: i32): i32 {
  const hash = mixed(mixed(hashSeed ^ <u64>kind) ^ (((<u64>first) << 32) | <u64>(<u32>second)));
  let slot = <i32>hash & mask;
  for (let entry = entryIn(slot); entry != 0; entry = entryIn(slot)) {
    if (isLike(entry, hash, kind) && isPair(entry, first, second)) return found(entry);
    slot = (slot + 1) & mask;
  }
  return addEntry(slot, hash, kind, first, second);
}

function isPair(entry: i32, first: i32, second: i32): bool {
  return load<i32>(entry + ENTRY_FIRST) == first && load<i32>(entry + ENTRY_SECOND) == second;
}

/** 0 where there is none. */
function entryIn(slot: i32): i32 {
  return load<i32>(ENTRY_SLOTS + slot * 4);
}

function isLike(entry: i32, hash: u64, kind: i32): bool {
  return load<u64>(entry) == hash && load<i32>(entry + ENTRY_KIND) == kind;
}

function found(entry: i32): i32 {
  isNewEntry = false;
  return entry;
}

function mixed(value: u64): u64 {
  const product = value * 0xff51afd7ed558ccd;
  return product ^ (product >> 32);
}

function addEntry(slot: i32, hash: u64, kind: i32, first: i32, second: i32): i32 {
  const entry = end;
  end += ENTRY_BYTES;
  memory.fill(entry, 0, ENTRY_BYTES);
  store<u64>(entry, hash);
  store<i32>(entry + ENTRY_KIND, kind);
  store<i32>(entry + ENTRY_FIRST, first);
  store<i32>(entry + ENTRY_SECOND, second);
  store<i32>(ENTRY_SLOTS + slot * 4, entry);
  if (++count * 2 > mask) doubleSlots();
  isNewEntry = true;
  return entry;
}

/** Few slots stay in the processor's caches; most blocks need no more. */
function doubleSlots(): void {
  mask = mask * 2 + 1;
  memory.fill(ENTRY_SLOTS, 0, (mask + 1) * 4);
  for (let entry = ENTRIES; entry < end; entry += ENTRY_BYTES) {
    let slot = <i32>load<u64>(entry) & mask;
    while (load<i32>(ENTRY_SLOTS + slot * 4) != 0) slot = (slot + 1) & mask;
    store<i32>(ENTRY_SLOTS + slot * 4, entry);
  }
}
