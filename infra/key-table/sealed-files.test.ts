import { open } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import { OUTCOME } from '../ports/idempotency-store.ts';
import { readGroupNow } from './find-old.ts';
import { Generations } from './generations.ts';
import { KeyFolder } from './key-folder.ts';
import { KeyMemory } from './key-memory.ts';
import { batchOf, randomRecords } from './keys-under-test.ts';
import { NO_KEYS } from './manifest.ts';
import { sealGeneration } from './seal-generation.ts';
import { type Kind, LARGE, SealedFiles, SMALL } from './sealed-files.ts';

/** So that an index has buckets of four turns. */
const GENERATION_KEYS = 2 ** 15;
const owner = { identityCheck: Buffer.alloc(16, 1), logId: Buffer.alloc(16, 2) };

// A seal and a merge that cannot count, as on a full disk, remove their files at the same time. Red when the
// marks of one are in force for the other: the keys of a file that stays are forgotten, and counted again.
it('files leave both indexes in turns, and those that stay are found', async () => {
  const { files, add, outcomesOf } = await setUp();
  const [leavesLarge, staysLarge] = [await add(LARGE), await add(LARGE)];
  const [staysSmall, leavesSmall] = [await add(SMALL), await add(SMALL)];
  const removals = [files.remove(LARGE, [leavesLarge.file]), files.remove(SMALL, [leavesSmall.file])];
  while (removals.map((removal) => removal.next().done).includes(false));
  for (const { records } of [staysLarge, staysSmall]) {
    expect(outcomesOf(records)).toEqual([OUTCOME.duplicate]);
  }
  for (const { records, file } of [leavesLarge, leavesSmall]) {
    expect(outcomesOf(records)).toEqual([OUTCOME.absent]);
    await file.file.close();
  }
});

async function setUp() {
  const memory = new KeyMemory(GENERATION_KEYS);
  const files = new SealedFiles(memory);
  const folder = new KeyFolder({
    directory: testFolder(),
    owner,
    memory,
    files,
    manifest: NO_KEYS,
    openFile: open,
  });
  const generations = new Generations(memory, 0);
  onTestFinished(() => files.close());

  async function add(kind: Kind) {
    const own = new KeyMemory(GENERATION_KEYS);
    const records = randomRecords(400);
    own.wasm.beginGeneration(0, 0);
    own.words.set(records, own.at.STAGE / 4);
    own.wasm.addAll(400);
    const file = await sealGeneration(folder, own, 0, folder.newNumber());
    for (const _ of files.add(kind, [file]));
    return { file, records };
  }

  /** Each that occurs. */
  function outcomesOf(records: Uint32Array): number[] {
    const batch = batchOf(records.slice());
    batch.readOnly.fill(1);
    generations.claim(
      { batch, from: 0, count: batch.count },
      { cold: (item) => files.find(item, readGroupNow) },
    );
    return [...new Set(batch.outcomes)];
  }

  return { files, add, outcomesOf };
}
