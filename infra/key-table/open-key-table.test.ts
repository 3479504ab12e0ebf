import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { setTimes } from '../../schemas/stored/record.ts';
import { onceKeysAreRead } from '../../tests/support/once-keys-are-read.ts';
import { OUTCOME } from '../ports/idempotency-store.ts';
import { batchOf, expectAllKnown, keysOfThisTest, randomRecords, type TestKeys } from './keys-under-test.ts';
import { openKeyTable } from './open-key-table.ts';

const BATCH = 100;

describe('keys after a kill', () => {
  // Mutants they catch: a file that does not count, a manifest before its file; the log replayed from another
  // position than its own.
  it('are all known, whatever a file holds that was not sealed yet', async () => {
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, 3_000);
    for (const [nth, left] of [undefined, 0, 17, 5_000].entries()) {
      await keys.kill();
      expect(sealedFiles(keys).length).toBeGreaterThan(1);
      const path = join(keys.folder(), 'keys', `000000${2000 + nth}.sealed`);
      if (left !== undefined) writeFileSync(path, Buffer.alloc(left, 7));
      await keys.open();
      expect(sealedFiles(keys)).not.toContain(path);
      expect(keys.store().keyCount).toBe(records.length * BATCH);
      await expectAllKnown(keys, records.at(-1) ?? new Uint32Array());
      records.push(...(await addKeys(keys, 300)));
    }
    for (const one of records) await expectAllKnown(keys, one);
  });

  it('are made from the log alone when files of theirs are missing', async () => {
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, 1_000);
    for (const gone of [/\.sealed$/, /checkpoint/, /./]) {
      await keys.restart('clean');
      await keys.kill();
      const directory = join(keys.folder(), 'keys');
      const names = readdirSync(directory).filter((name) => gone.test(name));
      for (const name of names) rmSync(join(directory, name));
      await keys.open();
      expect(keys.store().keyCount).toBe(1_000);
      for (const one of records) await expectAllKnown(keys, one);
    }
  });
});

describe('keys so old that only a file has them', () => {
  it('are found there, with their times, or as used for another event', async () => {
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, 3_000);
    for (const one of records) await expectAllKnown(keys, one);
    const other = batchOf((records[0] ?? new Uint32Array()).slice(0, 10));
    other.records[4] = (other.records[4] ?? 0) ^ 1;
    await onceKeysAreRead(() => keys.store().claim(other));
    expect([...other.outcomes]).toEqual([OUTCOME.reused]);
  });

  // Red when times are taken for whole milliseconds.
  it('keep times of any form', async () => {
    const keys = await keysOfThisTest();
    const times = [-1, 0.5, Number.NaN, -0, 2 ** 48, 1e300];
    const records = randomRecords(times.length);
    const stored = new Float64Array(records.buffer);
    for (const [nth, time] of times.entries()) setTimes(stored, nth, time, 1.7e12);
    await keys.commit(records);
    await addKeys(keys, 2_000);
    await keys.restart('clean');
    await expectAllKnown(keys, records);
  });
});

describe('keys that cannot be trusted', () => {
  const rejections: Array<[string, string, (keys: TestKeys) => void]> = [
    ['that end early', 'record_file_truncated', (keys) => truncateSync(aFile(keys), 4_000)],
    ['of which a bit has turned', 'record_file_damaged', (keys) => turnBit(aFile(keys), 100)],
    ['whose header has a bit turned', 'record_file_damaged', (keys) => turnBit(aFile(keys), 10)],
    ['whose manifest is damaged', 'record_file_damaged', (keys) => turnBit(manifest(keys), 50)],
    ['whose manifest is no manifest', 'record_file_damaged', (keys) => writeFileSync(manifest(keys), 'x')],
    [
      'of another log',
      'record_file_foreign',
      (keys) => rmSync(join(keys.folder(), 'log'), { recursive: true }),
    ],
  ];

  it('are rejected with a code, and left unchanged', async () => {
    for (const [what, code, harm] of rejections) {
      const keys = await keysOfThisTest();
      await addKeys(keys, 300);
      await keys.restart('clean');
      await keys.kill();
      harm(keys);
      const before = contentOf(keys);
      await expect(keys.open(), what).rejects.toMatchObject({ name: 'Fatal', code });
      expect(contentOf(keys), what).toEqual(before);
    }
  });

  it('of another identity key, of a newer version, or ahead of their log are rejected', async () => {
    const keys = await keysOfThisTest();
    await addKeys(keys, 300);
    await keys.restart('clean');
    const opening = await keys.openingOf();
    const otherKey = { ...opening, identityCheck: Buffer.alloc(16, 2) };
    await expect(openKeyTable(otherKey)).rejects.toMatchObject({ code: 'identity_key_mismatch' });
    const logReader = { ...opening.logReader, durableEnd: async () => 10 };
    await expect(openKeyTable({ ...opening, logReader })).rejects.toMatchObject({ code: 'log_behind_keys' });
    makeNewer(aFile(keys), 2, 52);
    await expect(openKeyTable(opening)).rejects.toMatchObject({ code: 'record_file_newer' });
    makeNewer(manifest(keys), 3, 36);
    await expect(openKeyTable(opening)).rejects.toMatchObject({ code: 'record_file_newer' });
  });

  // Red when what is read is not compared with its checksum.
  it('are noticed when records are read that have changed', async () => {
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, 300);
    await keys.restart('clean');
    for (const path of sealedFiles(keys)) turnBit(path, -400, 400);
    const damaged = { name: 'Fatal', code: 'record_file_damaged' };
    const claims = records.map((one) => onceKeysAreRead(() => keys.store().claim(batchOf(one.slice()))));
    await expect(Promise.all(claims)).rejects.toMatchObject(damaged);
  });
});

/** Adds keys with random records, in frames of 100. */
async function addKeys(keys: TestKeys, count: number): Promise<Uint32Array[]> {
  const added: Uint32Array[] = [];
  for (let left = count; left > 0; left -= BATCH) {
    const records = randomRecords(BATCH);
    await keys.commit(records.slice());
    added.push(records);
  }
  return added;
}

function manifest(keys: TestKeys): string {
  return join(keys.folder(), 'keys', 'checkpoint');
}

function sealedFiles(keys: TestKeys): string[] {
  const directory = join(keys.folder(), 'keys');
  const names = readdirSync(directory).filter((name) => name.endsWith('.sealed'));
  return names.map((name) => join(directory, name));
}

function aFile(keys: TestKeys): string {
  return sealedFiles(keys)[0] ?? '';
}

/** The checksum of each file. */
function contentOf(keys: TestKeys): Array<[string, number]> {
  const directory = join(keys.folder(), 'keys');
  const names = readdirSync(directory).sort();
  return names.map((name) => [name, crc32(readFileSync(join(directory, name)))]);
}

/** One in each of so many bytes; a place below 0 counts from the end. */
function turnBit(path: string, place: number, bytes = 1): void {
  const content = readFileSync(path);
  const from = place < 0 ? content.length + place : place;
  for (let at = from; at < from + bytes; at++) content[at] = (content[at] ?? 0) ^ 1;
  writeFileSync(path, content);
}

/** Another version, and the checksum right. */
function makeNewer(path: string, version: number, crcAt: number): void {
  const content = readFileSync(path);
  content.writeUInt16LE(version, 4);
  content.writeUInt32LE(crc32(content.subarray(0, crcAt)), crcAt);
  writeFileSync(path, content);
}
