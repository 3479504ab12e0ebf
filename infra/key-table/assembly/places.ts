// The places in the one memory. Fixed ones come first; the rest is given out once, when it is first needed,
// and stays. Pages that were never written to take no RAM.

export const RECORD_BYTES: i32 = 40;
export const BATCH_MAX: i32 = 512;
export const CANDIDATES_MAX: i32 = 64;

/** Items that are judged: records, read-only marks, outcomes, and which of them the sealed files may know. */
export const STAGE: i32 = 0x1000;
export const READ_ONLY: i32 = STAGE + BATCH_MAX * RECORD_BYTES;
export const OUTCOMES: i32 = READ_ONLY + BATCH_MAX;
export const COLD: i32 = OUTCOMES + BATCH_MAX;
/** The records that were found for cold items, each in its item's place; `FOUND` says where there is one. */
export const FOUND: i32 = COLD + BATCH_MAX;
export const FOUND_RECORDS: i32 = FOUND + BATCH_MAX;
export const CANDIDATES: i32 = FOUND_RECORDS + BATCH_MAX * RECORD_BYTES;
/** 256 marks of files that leave an index. */
export const LEAVING: i32 = CANDIDATES + CANDIDATES_MAX * 4;
/** 4 generations and 2 indexes, 32 bytes each. */
export const GENERATIONS: i32 = LEAVING + 256;
export const INDEXES: i32 = GENERATIONS + 4 * 32;
const HEAP: i32 = 0xc000;

/** Keys of a generation; the logarithm of its slots; that of the buckets of an index. */
export let generationKeys: i32 = 0;
export let slotBits: i32 = 0;
export let bucketBits: i32 = 0;

let heapEnd: usize = HEAP;

export function beginPlaces(keys: i32, slots: i32, buckets: i32): void {
  generationKeys = keys;
  slotBits = slots;
  bucketBits = buckets;
}

/** Zeros, once. Returns 0 when there is no more memory. */
export function take(bytes: usize): usize {
  const at = heapEnd;
  if (!reach(at + bytes)) return 0;
  heapEnd = (at + bytes + 15) & ~15;
  return at;
}

/** The index that grows forever is the last in memory. */
export function lastPlace(): usize {
  return heapEnd;
}

export function reach(end: usize): bool {
  const missing = <i64>end + 64 - ((<i64>memory.size()) << 16);
  return missing <= 0 || memory.grow(<i32>((missing + 0xffff) >> 16)) >= 0;
}
