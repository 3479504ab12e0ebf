/**
 * The keys in RAM: the newest ones with their records (generations.ts), and of all others which sealed file
 * may have them (sealed-index.ts). It also makes sealed files (mill.ts). Generations, their slots and the two
 * indexes are in one memory; no object per key.
 */
import { find, findKept, warm } from './generations';
import { LARGE, SMALL } from './index-places';
import { beginPlaces, COLD, FOUND, FOUND_RECORDS, RECORD_BYTES, STAGE } from './places';
import { candidates, mayHave, warmIndex } from './sealed-index';

export { addRange, beginAdding, beginRemoving, entriesFrom, removeRange } from './change-index';
export { addAll, beginGeneration, claim, countOf, isWide, search, takeBack } from './generations';
export { keysIn, makeRoom } from './index-places';
export {
  beginMill,
  collect,
  entriesAt,
  group,
  inputBytesMax,
  packedAt,
  scratchAt,
  scratchBytes,
  startsAt,
  unpack,
} from './mill';
export {
  CANDIDATES,
  COLD,
  FOUND,
  FOUND_RECORDS,
  LEAVING,
  OUTCOMES,
  READ_ONLY,
  STAGE,
} from './places';

export function begin(generationKeys: i32, slotBits: i32, bucketBits: i32): void {
  beginPlaces(generationKeys, slotBits, bucketBits);
}

/**
 * Marks at COLD the items of the stage that are in no generation that is searched first, and that a sealed
 * file may have; those of them that are still in RAM are found. Returns how many are left to be found.
 */
export function probe(count: i32): i32 {
  const end = STAGE + count * RECORD_BYTES;
  warmIndex(SMALL, STAGE, end);
  warmIndex(LARGE, STAGE, end);
  warm(count);
  let cold = 0;
  for (let item = 0, id = STAGE; item < count; item++, id += RECORD_BYTES) {
    const isCold = (mayHave(SMALL, id) || mayHave(LARGE, id)) && !find(id);
    const isFound = isCold && findKept(id, FOUND_RECORDS + item * RECORD_BYTES);
    store<u8>(COLD + item, isCold ? 1 : 0);
    store<u8>(FOUND + item, isFound ? 1 : 0);
    if (isCold && !isFound) cold++;
  }
  return cold;
}

/** The files that may have the item: index * 256 + file number, at CANDIDATES. Returns how many. */
export function candidatesOf(item: i32): i32 {
  const id = STAGE + item * RECORD_BYTES;
  return candidates(LARGE, id, candidates(SMALL, id, 0));
}
