import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { OUTCOME } from '../ports/idempotency-store.ts';
import type { FindOld, Generations } from './generations.ts';
import { batchOf } from './keys-under-test.ts';
import { mergeFiles, nextMerge } from './merge-files.ts';
import type { SealedFile } from './sealed-file.ts';
import { LARGE, type SealedFiles, SMALL } from './sealed-files.ts';
import { addKeys, GENERATION_KEYS, upkeepOfThisTest } from './upkeep-under-test.ts';

type Upkeep = ReturnType<typeof upkeepOfThisTest>;

describe('files of keys', () => {
  // Red when they are written again, or when their keys count no more in the end.
  it('of full generations become large as they are, and sixteen large ones become one', async () => {
    const stores = upkeepOfThisTest();
    const records = await sealEach(stores, 16, 128);
    const { folder, generations, find } = stores;
    await expect.poll(() => folder.files.of(SMALL)).toEqual([]);
    expect(folder.manifest.large.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 16 }, (_, nth) => nth + 1),
    );
    expect(sealedIn(folder.directory)).toHaveLength(16);
    for (const one of records) expectKnown(generations, find, one);
    const files = folder.files.of(LARGE);
    const merge = { files, from: LARGE, makes: 'one file', into: LARGE } as const;
    expect(await mergeFiles(folder, merge, new AbortController().signal)).toBe(true);
    expect(folder.manifest).toMatchObject({ small: [], large: [17] });
    expect(sealedIn(folder.directory)).toEqual(['0000000017.sealed']);
    for (const one of records) expectKnown(generations, find, one);
  });

  // Red when a file of more than half a generation stays small after a merge: at some time none has room.
  it('of some keys find room, however many there are', async () => {
    const stores = upkeepOfThisTest();
    const records = await sealEach(stores, 70, 63);
    const { folder, generations, find, upkeep } = stores;
    await expect.poll(() => folder.manifest.large).toHaveLength(4);
    await upkeep.finish();
    for (const one of records) expectKnown(generations, find, one);
  });

  it('become fewer where there are many large ones: those of the fewest keys', () => {
    const large = Array.from({ length: 193 }, (_, nth) => fileOf(((nth * 7) % 193) + 128));
    const merge = nextMerge(filesOf([], large), GENERATION_KEYS);
    expect(merge).toMatchObject({ from: LARGE, into: LARGE, makes: 'one file' });
    const keyCounts = merge?.files.map(({ shape }) => shape.keyCount);
    expect(keyCounts).toEqual(Array.from({ length: 16 }, (_, nth) => nth + 128));
    expect(nextMerge(filesOf([], large.slice(1)), GENERATION_KEYS)).toBeUndefined();
  });

  // Red when all move at once: after a start with smaller generations there may be more than have room. And
  // when eight are waited for: fewer of many keys, as a release before made them, fill the small index.
  it('move up to 32 at a time; fewer than eight where they have the keys of as many generations', () => {
    const whole = Array.from({ length: 100 }, () => fileOf(64));
    const merge = nextMerge(filesOf(whole, []), GENERATION_KEYS);
    expect(merge).toMatchObject({ from: SMALL, makes: 'large files', files: whole.slice(0, 32) });
    expect(nextMerge(filesOf(whole.slice(0, 7), []), GENERATION_KEYS)).toBeUndefined();
    const wide = [fileOf(GENERATION_KEYS * 7), fileOf(GENERATION_KEYS)];
    const ofWide = nextMerge(filesOf(wide, []), GENERATION_KEYS);
    expect(ofWide).toMatchObject({ makes: 'large files', files: wide });
  });

  // Red when they take every number of the large index: the merge that would make room finds none itself.
  it('leave a number for the merge of large ones', () => {
    const whole = Array.from({ length: 32 }, () => fileOf(GENERATION_KEYS));
    const large = Array.from({ length: 224 }, () => fileOf(GENERATION_KEYS));
    const merge = nextMerge(filesOf(whole, large), GENERATION_KEYS);
    expect(merge).toMatchObject({ from: LARGE, into: LARGE, makes: 'one file' });
    const next = nextMerge(filesOf(whole, large.slice(1)), GENERATION_KEYS);
    expect(next).toMatchObject({ from: SMALL, makes: 'large files' });
  });

  it('of the fewest keys become one small file', () => {
    const merge = nextMerge(
      filesOf(
        Array.from({ length: 17 }, () => fileOf(3)),
        [],
      ),
      GENERATION_KEYS,
    );
    expect(merge).toMatchObject({ from: SMALL, into: SMALL, makes: 'one file' });
    expect(merge?.files).toHaveLength(16);
  });
});

/** So many generations of so many keys, each sealed before the next begins. Gives their records. */
async function sealEach(
  { generations, upkeep }: Upkeep,
  count: number,
  keys: number,
): Promise<Uint32Array[]> {
  const records: Uint32Array[] = [];
  for (let nth = 0; nth < count; nth++) {
    records.push(addKeys(generations, keys));
    generations.confirm(generations.next, generations.next);
    await upkeep.sealNow();
  }
  return records;
}

function expectKnown(generations: Generations, find: FindOld, records: Uint32Array): void {
  const batch = batchOf(records.slice());
  batch.readOnly.fill(1);
  generations.claim({ batch, from: 0, count: batch.count }, find);
  expect(batch.outcomes.every((outcome) => outcome === OUTCOME.duplicate)).toBe(true);
}

function fileOf(keyCount: number): SealedFile {
  return { shape: { keyCount } } as SealedFile;
}

function filesOf(small: SealedFile[], large: SealedFile[]): SealedFiles {
  const of = (kind: number) => (kind === SMALL ? small : large);
  const hasRoom = (kind: number, _keys: number, fileCount = 1) => of(kind).length + fileCount <= 256;
  return { of, hasRoom } as unknown as SealedFiles;
}

function sealedIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.endsWith('.sealed'));
}
