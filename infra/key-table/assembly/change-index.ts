// Adds files to an index (sealed-index.ts) and removes them, a range of buckets at a time.

import {
  BOUNDARY,
  BOUNDARY_END,
  ENTRIES_AT,
  ENTRY_BYTES,
  endOf,
  KEYS,
  NO_BOUNDARY,
  placeOf,
  setStart,
  shiftOf,
  startOf,
  WRITTEN,
} from './index-places';
import { bucketBits, LEAVING } from './places';

/** From the last bucket to the first: then each range moves to where nothing is still to be moved. */
export function beginAdding(index: i32, added: u32): void {
  const place = placeOf(index);
  const buckets = (<u32>1) << (bucketBits - shiftOf(index));
  const keys = load<u32>(place, KEYS);
  store<u32>(place, buckets, BOUNDARY);
  store<u32>(place, keys, BOUNDARY_END);
  store<u32>(place, keys + added, WRITTEN);
  store<u32>(place, keys + added, KEYS);
  setStart(place, buckets, keys + added);
}

/** Old entries of the range that is added to next, from this bucket of files on. */
export function entriesFrom(index: i32, bucket: u32): u32 {
  return load<u32>(placeOf(index), BOUNDARY_END) - startOf(placeOf(index), bucket >> shiftOf(index));
}

/**
 * Adds to the buckets from `fileBucket` up to the boundary what the slices hold, each 20 bytes: file number,
 * how many low bits of a bucket an entry has, groups, where their starts are (one more than groups), where
 * the entries of the first begin. `scratch` has room for a word per bucket and the old entries.
 */
export function addRange(index: i32, fileBucket: u32, slices: usize, sliceCount: i32, scratch: usize): void {
  const place = placeOf(index);
  shift = shiftOf(index);
  const first = fileBucket >> shift;
  const end = load<u32>(place, BOUNDARY);
  const oldStart = startOf(place, first);
  const oldCount = load<u32>(place, BOUNDARY_END) - oldStart;
  const filled = scratch;
  const old = scratch + ((<usize>(end - first)) << 2);
  const entries = <usize>load<u32>(place, ENTRIES_AT);
  memory.fill(filled, 0, (<usize>(end - first)) << 2);
  memory.copy(old, entries + <usize>oldStart * ENTRY_BYTES, <usize>oldCount * ENTRY_BYTES);
  let added: u32 = 0;
  for (let slice = 0; slice < sliceCount; slice++) added += countSlice(slices + slice * 20, filled);
  const start = load<u32>(place, WRITTEN) - oldCount - added;
  moveOld(place, first, end, old, filled, start);
  store<u32>(place, start, WRITTEN);
  store<u32>(place, first, BOUNDARY);
  store<u32>(place, oldStart, BOUNDARY_END);
  for (let slice = 0; slice < sliceCount; slice++) placeSlice(place, slices + slice * 20, first, filled);
  if (first == 0) store<u32>(place, NO_BOUNDARY, BOUNDARY);
}

/** Of the index that is being added to. */
let shift: u32 = 0;

function countSlice(slice: usize, counts: usize): u32 {
  const lowBits = load<u32>(slice, 4);
  const groups = load<u32>(slice, 8);
  const starts = <usize>load<u32>(slice, 12);
  const from = load<u32>(starts);
  let entry = <usize>load<u32>(slice, 16);
  for (let group: u32 = 0; group < groups; group++) {
    const bucket = group << lowBits;
    const end =
      <usize>load<u32>(slice, 16) +
      <usize>(load<u32>(starts + ((<usize>group) << 2), 4) - from) * ENTRY_BYTES;
    for (; entry < end; entry += ENTRY_BYTES) {
      const at = counts + ((<usize>((bucket + load<u8>(entry)) >> shift)) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
  return load<u32>(starts + ((<usize>groups) << 2)) - from;
}

/** `filled` holds how many come into each bucket, and then how many entries of it are in place. */
function moveOld(place: i32, first: u32, end: u32, old: usize, filled: usize, start: u32): void {
  const entries = <usize>load<u32>(place, ENTRIES_AT);
  /** Behind the range, where the one before was written. */
  const written = entries + <usize>load<u32>(place, WRITTEN) * ENTRY_BYTES;
  let oldStart = startOf(place, first);
  for (let bucket = first; bucket < end; bucket++) {
    const oldEnd = endOf(place, bucket);
    const moved = oldEnd - oldStart;
    const at = filled + ((<usize>(bucket - first)) << 2);
    const count = moved + load<u32>(at);
    const to = entries + <usize>start * ENTRY_BYTES;
    const files = to + ((<usize>count) << 1);
    if (files + moved + SPILL <= written) {
      copyAndSpill(to, old, (<usize>moved) << 1);
      copyAndSpill(files, old + ((<usize>moved) << 1), moved);
    } else {
      copyShort(to, old, (<usize>moved) << 1);
      copyShort(files, old + ((<usize>moved) << 1), moved);
    }
    store<u32>(at, moved);
    setStart(place, bucket, start);
    old += <usize>moved * ENTRY_BYTES;
    oldStart = oldEnd;
    start += count;
  }
}

const SPILL: usize = 16;

/** Up to 15 bytes behind its copy are overwritten: what belongs there is written later. */
function copyAndSpill(to: usize, from: usize, bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += SPILL) v128.store(to + at, v128.load(from + at));
}

/** memory.copy is a call out of the module: 15 ns, however short. */
function copyShort(to: usize, from: usize, bytes: usize): void {
  if (bytes > 256) {
    memory.copy(to, from, bytes);
    return;
  }
  let at: usize = 0;
  for (; at + 16 <= bytes; at += 16) v128.store(to + at, v128.load(from + at));
  if (at + 8 <= bytes) {
    store<u64>(to + at, load<u64>(from + at));
    at += 8;
  }
  for (; at < bytes; at++) store<u8>(to + at, load<u8>(from + at));
}

function placeSlice(place: i32, slice: usize, first: u32, filled: usize): void {
  const file = load<u32>(slice);
  const lowBits = load<u32>(slice, 4);
  const groups = load<u32>(slice, 8);
  const starts = <usize>load<u32>(slice, 12);
  const from = load<u32>(starts);
  const entries = <usize>load<u32>(place, ENTRIES_AT);
  let entry = <usize>load<u32>(slice, 16);
  for (let group: u32 = 0; group < groups; group++) {
    const groupEnd =
      <usize>load<u32>(slice, 16) +
      <usize>(load<u32>(starts + ((<usize>group) << 2), 4) - from) * ENTRY_BYTES;
    for (; entry < groupEnd; entry += ENTRY_BYTES) {
      const bucket = first + (((group << lowBits) + load<u8>(entry)) >> shift);
      const at = filled + ((<usize>(bucket - first)) << 2);
      const next = load<u32>(at);
      store<u32>(at, next + 1);
      const start = startOf(place, bucket);
      const count = startOf(place, bucket + 1) - start;
      const to = entries + <usize>start * ENTRY_BYTES;
      store<u16>(to + ((<usize>next) << 1), load<u16>(entry, 1));
      store<u8>(to + ((<usize>count) << 1) + next, <u8>file);
    }
  }
}

/** From the first bucket to the last. Files that leave are marked at LEAVING. */
export function beginRemoving(index: i32): void {
  const place = placeOf(index);
  store<u32>(place, 0, BOUNDARY);
  store<u32>(place, 0, BOUNDARY_END);
  store<u32>(place, 0, WRITTEN);
}

/** Removes from the buckets between the boundary and `fileBucket`. `scratch` has room for the largest one. */
export function removeRange(index: i32, fileBucket: u32, scratch: usize, scratchBytes: u32): void {
  const place = placeOf(index);
  const end = fileBucket >> shiftOf(index);
  const entries = <usize>load<u32>(place, ENTRIES_AT);
  const first = load<u32>(place, BOUNDARY);
  store<u32>(place, NO_BOUNDARY, BOUNDARY);
  let written = load<u32>(place, WRITTEN);
  for (let bucket = first; bucket < end; bucket++) {
    const start = startOf(place, bucket);
    const count = startOf(place, bucket + 1) - start;
    if (count * ENTRY_BYTES > scratchBytes) unreachable();
    copyShort(scratch, entries + <usize>start * ENTRY_BYTES, <usize>count * ENTRY_BYTES);
    setStart(place, bucket, written);
    written += keepStaying(scratch, count, entries + <usize>written * ENTRY_BYTES);
  }
  store<u32>(place, written, WRITTEN);
  if (fileBucket == (<u32>1) << bucketBits) {
    setStart(place, end, written);
    store<u32>(place, written, KEYS);
  } else {
    store<u32>(place, end, BOUNDARY);
    store<u32>(place, written, BOUNDARY_END);
  }
}

/** Returns how many of the bucket's entries stay. */
function keepStaying(bucket: usize, count: u32, to: usize): u32 {
  const files = bucket + ((<usize>count) << 1);
  let staying: u32 = 0;
  for (let entry: u32 = 0; entry < count; entry++) {
    if (load<u8>(LEAVING + load<u8>(files + entry)) != 0) continue;
    store<u16>(to + ((<usize>staying) << 1), load<u16>(bucket + ((<usize>entry) << 1)));
    staying++;
  }
  let file = to + ((<usize>staying) << 1);
  for (let entry: u32 = 0; entry < count; entry++) {
    const number = load<u8>(files + entry);
    if (load<u8>(LEAVING + number) != 0) continue;
    store<u8>(file++, number);
  }
  return staying;
}
