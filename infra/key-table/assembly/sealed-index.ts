// Which sealed files may have an id. An index has buckets by the first bits of the id, the small one fewer
// than files have, so that about 20 keys are in each; a bucket holds an entry for each key: 16 other bits of
// the id (its tag) and the number of its file, first all tags, then all numbers. 3 bytes per key, in one
// array without gaps; the buckets' first entries are in another.
//
// Files are added and removed a range of buckets at a time, and searches go on in between. `boundary` is then
// the first bucket of the part that lies behind what is done or still to do; the bucket before it ends at
// `boundaryEnd`, and not where the next one begins.

import {
  bucketOf,
  ENTRIES_AT,
  ENTRY_BYTES,
  endOf,
  KEYS,
  placeOf,
  shiftOf,
  startOf,
  tagOf,
} from './index-places';
import { CANDIDATES, CANDIDATES_MAX } from './places';

/** Whether a file of the index may have the id. */
export function mayHave(index: i32, id: usize): bool {
  const place = placeOf(index);
  if (load<u32>(place, KEYS) == 0) return false;
  const bucket = bucketOf(load<u32>(id)) >> shiftOf(index);
  const start = startOf(place, bucket);
  const count = endOf(place, bucket) - start;
  const tags = <usize>load<u32>(place, ENTRIES_AT) + <usize>start * ENTRY_BYTES;
  const tag = i16x8.splat(<i16>tagOf(id));
  let entry: u32 = 0;
  do {
    if (equalTags(tags, tag, entry, count) != 0) return true;
    entry += 16;
  } while (entry < count);
  return false;
}

/** A bit for each of the next sixteen entries whose tag is equal. */
function equalTags(tags: usize, tag: v128, entry: u32, count: u32): i32 {
  const at = tags + ((<usize>entry) << 1);
  const front = i16x8.eq(v128.load(at), tag);
  const back = i16x8.eq(v128.load(at, 16), tag);
  const left = count - entry;
  const ours = left >= 16 ? 0xffff : (1 << left) - 1;
  return i8x16.bitmask(i8x16.narrow_i16x8_s(front, back)) & ours;
}

let warmed: u32 = 0;
/** Most buckets have their tags in fewer bytes, which are in two lines of the processor's cache. */
const TAGS_BYTES: usize = 40;

/** Brings what `mayHave` reads nearer: reads of different ids do not wait for each other. */
export function warmIndex(index: i32, from: usize, to: usize): void {
  const place = placeOf(index);
  if (load<u32>(place, KEYS) == 0) return;
  let seen: u32 = 0;
  const entries = <usize>load<u32>(place, ENTRIES_AT);
  for (let id = from; id < to; id += 40) {
    const start = startOf(place, bucketOf(load<u32>(id)) >> shiftOf(index));
    const tags = entries + <usize>start * ENTRY_BYTES;
    seen ^= load<u8>(tags) ^ load<u8>(tags, TAGS_BYTES);
  }
  warmed = seen; // else the compiler may drop the reads as unused
}

/**
 * Writes the files that may have the id to CANDIDATES, from `from` on: index * 256 + file. Returns their end.
 */
export function candidates(index: i32, id: usize, from: i32): i32 {
  const place = placeOf(index);
  if (load<u32>(place, KEYS) == 0) return from;
  const bucket = bucketOf(load<u32>(id)) >> shiftOf(index);
  const start = startOf(place, bucket);
  const count = endOf(place, bucket) - start;
  const tags = <usize>load<u32>(place, ENTRIES_AT) + <usize>start * ENTRY_BYTES;
  const tag = i16x8.splat(<i16>tagOf(id));
  let found = from;
  for (let entry: u32 = 0; entry < count; entry += 16) {
    for (let equal = equalTags(tags, tag, entry, count); equal != 0; equal &= equal - 1) {
      const file = load<u8>(tags + ((<usize>count) << 1) + entry + ctz(equal));
      found = addCandidate((index << 8) | <i32>file, found);
    }
  }
  return found;
}

/** Each file once. */
function addCandidate(candidate: i32, count: i32): i32 {
  for (let at = 0; at < count; at++) if (load<i32>(CANDIDATES + at * 4) == candidate) return count;
  if (count == CANDIDATES_MAX) unreachable();
  store<i32>(CANDIDATES + count * 4, candidate);
  return count + 1;
}
