// Where an index (sealed-index.ts) and its buckets are.

import { reserveGeneration } from './generations';
import { reserveMill } from './mill';
import { bucketBits, generationKeys, INDEXES, lastPlace, reach, take } from './places';

const STARTS_AT: i32 = 0;
export const ENTRIES_AT: i32 = 4;
export const KEYS: i32 = 8;
export const BOUNDARY: i32 = 12;
export const BOUNDARY_END: i32 = 16;
/** Where the part ends, or begins, that is written next. */
export const WRITTEN: i32 = 20;

/** Buckets of a file that are one of the small index, as a power of two. */
const SMALL_SHIFT: u32 = 3;
/** What the small index has room for. */
let smallKeysMax: u32 = 0;
/**
 * The same in generations, at least: less than 8 wait for the large index, 8 more in files of less than half
 * of one, as many whose large file is being made; the rest is for what comes during a large merge.
 */
const SMALL_GENERATIONS_MAX: u32 = 64;
export const ENTRY_BYTES: u32 = 3;
export const NO_BOUNDARY: u32 = 0xffff_ffff;
export const SMALL: i32 = 0;
export const LARGE: i32 = 1;

export function placeOf(index: i32): i32 {
  return INDEXES + (index << 5);
}

export function bucketOf(word: u32): u32 {
  return word >> (32 - bucketBits);
}

export function shiftOf(index: i32): u32 {
  return index == SMALL ? SMALL_SHIFT : 0;
}

export function tagOf(id: usize): u16 {
  return load<u16>(id, 4);
}

export function keysIn(index: i32): u32 {
  return load<u32>(placeOf(index), KEYS);
}

/** Room for so many keys more. Returns 0 when there is none. The large index has to be the last in memory. */
export function makeRoom(index: i32, added: u32): i32 {
  const place = placeOf(index);
  if (load<u32>(place, STARTS_AT) == 0 && !(index == SMALL ? placeSmall(added) : placeLarge())) return 0;
  const keys = <u64>load<u32>(place, KEYS) + added;
  if (index == SMALL) return keys <= smallKeysMax ? 1 : 0;
  const end = <u64>load<u32>(place, ENTRIES_AT) + keys * ENTRY_BYTES;
  return end < 0xffff_0000 && reach(<usize>end) ? 1 : 0;
}

function placeStarts(index: i32): bool {
  const starts = take((((<usize>1) << (bucketBits - shiftOf(index))) + 1) * 4);
  store<u32>(placeOf(index), <u32>starts, STARTS_AT);
  store<u32>(placeOf(index), NO_BOUNDARY, BOUNDARY);
  return starts != 0;
}

/** A start may find more in it than comes together otherwise: the size of a generation was another one. */
function placeSmall(added: u32): bool {
  const keysMax = SMALL_GENERATIONS_MAX * generationKeys;
  smallKeysMax = max(keysMax, added + keysMax / 2);
  const entries = take(<usize>smallKeysMax * ENTRY_BYTES);
  store<u32>(placeOf(SMALL), <u32>entries, ENTRIES_AT);
  return entries != 0 && placeStarts(SMALL);
}

/** Everything else gets its place before. */
function placeLarge(): bool {
  for (let generation = 0; generation < 4; generation++) if (!reserveGeneration(generation)) return false;
  if (load<u32>(placeOf(SMALL), STARTS_AT) == 0 && !placeSmall(0)) return false;
  if (reserveMill() == 0 || !placeStarts(LARGE)) return false;
  store<u32>(placeOf(LARGE), <u32>lastPlace(), ENTRIES_AT);
  return true;
}

export function startOf(place: i32, bucket: u32): u32 {
  return load<u32>(<usize>load<u32>(place, STARTS_AT) + ((<usize>bucket) << 2));
}

export function endOf(place: i32, bucket: u32): u32 {
  const isLast = bucket + 1 == load<u32>(place, BOUNDARY);
  return isLast ? load<u32>(place, BOUNDARY_END) : startOf(place, bucket + 1);
}

export function setStart(place: i32, bucket: u32, start: u32): void {
  store<u32>(<usize>load<u32>(place, STARTS_AT) + ((<usize>bucket) << 2), start);
}
