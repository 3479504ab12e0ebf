import { RECORD_WORDS, wordsOf } from '../../schemas/stored/record.ts';
import { findOld } from './find-old.ts';
import { type Generations, pieceLength, piecesOf } from './generations.ts';
import type { KeyFolder } from './key-folder.ts';
import type { KeyUpkeep } from './key-upkeep.ts';
import type { TakingOver } from './take-over.ts';

export interface AddingDeps {
  folder: KeyFolder;
  generations: Generations;
  upkeep: KeyUpkeep;
  takingOver: TakingOver;
}

/** Adds records (schemas/stored/record.ts) whose keys are not known; of two with one key the first stays. */
export async function addRecords(records: Uint8Array, deps: AddingDeps): Promise<void> {
  const { generations, upkeep, folder } = deps;
  const words = wordsOf(records);
  const count = words.length / RECORD_WORDS;
  const batch = {
    count,
    records: words,
    readOnly: new Uint8Array(count),
    outcomes: new Uint8Array(count),
  };
  for (const piece of piecesOf(batch, pieceLength(folder.memory))) {
    if (!generations.makeRoom(piece.count)) await upkeep.waitForRoom(piece.count);
    generations.claim(piece, findOld(deps));
    generations.confirm(generations.next);
  }
}

/**
 * Adds what was on the log before its start, in files that do not count yet: a crash in the middle, or a
 * source that throws, leaves everything as it was before.
 */
export async function addEarlierRecords(earlier: AsyncIterable<Uint8Array>, deps: AddingDeps): Promise<void> {
  for await (const records of earlier) {
    await addRecords(records, deps);
    deps.upkeep.advance();
  }
  await deps.upkeep.sealNow();
}
