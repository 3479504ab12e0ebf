import { onTestFinished } from 'vitest';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { readGroupNow } from './find-old.ts';
import { type FindOld, Generations, piecesOf } from './generations.ts';
import type { OpenFile } from './key-files.ts';
import { KeyFolder } from './key-folder.ts';
import { KeyMemory } from './key-memory.ts';
import { KeyUpkeep, type KeyUpkeepDeps } from './key-upkeep.ts';
import { batchOf, randomRecords } from './keys-under-test.ts';
import { NO_KEYS } from './manifest.ts';
import { SealedFiles } from './sealed-files.ts';

interface UpkeepUnderTest extends Partial<KeyUpkeepDeps> {
  openFile?: OpenFile;
}

export const GENERATION_KEYS = 128;
const owner = { identityCheck: Buffer.alloc(16, 1), logId: Buffer.alloc(16, 2) };

/** The upkeep of an empty folder. */
export function upkeepOfThisTest({ openFile, ...more }: UpkeepUnderTest = {}) {
  const directory = testFolder();
  const memory = new KeyMemory(GENERATION_KEYS);
  const files = new SealedFiles(memory);
  const folder = new KeyFolder({ directory, owner, memory, files, manifest: NO_KEYS, openFile });
  const generations = new Generations(memory, 0);
  const find: FindOld = { cold: (item) => files.find(item, readGroupNow) };
  onTestFinished(() => files.close());
  const upkeep = new KeyUpkeep({ folder, generations, log: SILENT, ...more });
  return { folder, generations, find, upkeep };
}

/** Claims random keys as far as there is room, in as many generations. Gives their records. */
export function addKeys(generations: Generations, count: number): Uint32Array {
  const records = randomRecords(count);
  for (const piece of piecesOf(batchOf(records.slice()), 100)) {
    generations.makeRoom(piece.count);
    generations.claim(piece, { cold: () => undefined });
  }
  return records;
}
