import { cpSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RECORD_WORDS } from '../../schemas/stored/record.ts';
import { onceKeysAreRead } from '../../tests/support/once-keys-are-read.ts';
import { OUTCOME } from '../ports/idempotency-store.ts';
import { batchOf, keysOfThisTest, randomRecords, type TestKeys } from './keys-under-test.ts';

const KEYS = 3_000;
const BATCH = 100;

describe('keys that the log no longer holds', () => {
  // Mutants it catches: the warehouse is not queried; a key that both have is taken twice.
  it('come from elsewhere when the files are missing, and those behind from the log', async () => {
    const { keys, records } = await withoutFiles();
    keys.earlier = async function* (before) {
      expect(before).toBeGreaterThan(0);
      // More than was requested, as the warehouse does: it has what is on the log too.
      for (let at = 0; at < KEYS - 200; at += 7)
        yield bytesOf(records.slice(at, Math.min(at + 7, KEYS - 200)));
    };
    await keys.open();
    expect(keys.store().keyCount).toBe(KEYS);
    await expectAllKnown(keys, records);
    await keys.restart('killed');
    await expectAllKnown(keys, records);
  });

  // Mutant it catches: a checkpoint while they are arriving.
  it('are requested again when they did not arrive whole', async () => {
    const { keys, records } = await withoutFiles();
    await expect(keys.open()).rejects.toMatchObject({ name: 'Fatal', code: 'keys_missing' });
    keys.earlier = async function* () {
      yield bytesOf(records.slice(0, 1_000));
      throw new Error('the connection broke');
    };
    await expect(keys.open()).rejects.toThrow('the connection broke');
    await expect(keys.open()).rejects.toThrow('the connection broke');
    keys.earlier = async function* () {
      yield bytesOf(records);
    };
    await keys.open();
    expect(keys.store().keyCount).toBe(KEYS);
    await expectAllKnown(keys, records);
  });

  // Mutant it catches: the records are deleted before it is known that they exist elsewhere.
  it('that lost their checkpoint are rejected and left unchanged', async () => {
    const { keys } = await withoutFiles('checkpoint');
    const path = aSealedFile(keys);
    const before = readFileSync(path);
    keys.earlier = async function* () {
      yield* [];
      throw new Error('the warehouse lacks some');
    };
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(keys.open()).rejects.toMatchObject({ name: 'Fatal', code: 'record_file_damaged' });
      expect(readFileSync(path).equals(before)).toBe(true);
    }
  });

  // Red when the manifest is given up, or what comes takes the place of the files, before all of it came.
  it('are read from a file that was put back, when no other source has them', async () => {
    const { keys, records, removed } = await withoutFiles('sealed');
    for (const given of [0, 1_000]) {
      keys.earlier = async function* () {
        yield bytesOf(records.slice(0, given));
        throw new Error('the warehouse is unavailable');
      };
      await expect(keys.open()).rejects.toThrow('the warehouse is unavailable');
      await expect(keys.open()).rejects.toThrow('the warehouse is unavailable');
    }
    const folder = join(keys.folder(), 'keys');
    const before = readdirSync(folder).length;
    cpSync(removed.copy, removed.path);
    await keys.open();
    expect(keys.store().keyCount).toBe(KEYS);
    await expectAllKnown(keys, records);
    // And no more: those that failed left nothing behind.
    expect(readdirSync(folder).length).toBeLessThanOrEqual(before + 1);
  });

  // Mutant it catches: files that end before the log begins are accepted.
  it('are added to files that end before the log begins', async () => {
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, KEYS / 2);
    await keys.restart('clean');
    await keys.kill();
    cpSync(join(keys.folder(), 'keys'), join(keys.folder(), 'old-keys'), { recursive: true });
    await keys.open();
    records.push(...(await addKeys(keys, KEYS / 2)));
    await keys.restart('clean');
    await keys.kill();
    rmSync(join(keys.folder(), 'keys'), { recursive: true });
    cpSync(join(keys.folder(), 'old-keys'), join(keys.folder(), 'keys'), { recursive: true });
    removeSegments(keys, 0.8);
    keys.earlier = async function* () {
      yield bytesOf(records.slice(KEYS / 2));
    };
    await keys.open();
    expect(keys.store().keyCount).toBe(KEYS);
    await expectAllKnown(keys, records);
  });
});

interface Bereft {
  keys: TestKeys;
  records: Uint32Array[];
  /** What is missing, and where a copy of it is. */
  removed: { path: string; copy: string };
}

/** Closed, half of the log deleted, and the folder of the keys, or one file of it. */
async function withoutFiles(file: '' | 'checkpoint' | 'sealed' = ''): Promise<Bereft> {
  const keys = await keysOfThisTest();
  const records = await addKeys(keys, KEYS);
  await keys.restart('clean');
  await keys.kill();
  const path = file === 'sealed' ? aSealedFile(keys) : join(keys.folder(), 'keys', file);
  const removed = { path, copy: join(keys.folder(), 'removed') };
  renameSync(removed.path, removed.copy);
  removeSegments(keys, 0.5);
  return { keys, records, removed };
}

function aSealedFile(keys: TestKeys): string {
  const directory = join(keys.folder(), 'keys');
  const names = readdirSync(directory).filter((name) => name.endsWith('.sealed'));
  return join(directory, names[0] ?? '');
}

/** As retention does it. */
function removeSegments(keys: TestKeys, share: number): void {
  const directory = join(keys.folder(), 'log');
  const names = readdirSync(directory)
    .filter((name) => name.endsWith('.seg'))
    .sort();
  expect(names.length).toBeGreaterThan(5);
  for (const name of names.slice(0, names.length * share)) rmSync(join(directory, name));
}

/** Adds keys with random records, in frames of some; gives the records one by one. */
async function addKeys(keys: TestKeys, count: number): Promise<Uint32Array[]> {
  const added: Uint32Array[] = [];
  for (let left = count; left > 0; left -= BATCH) {
    const records = randomRecords(BATCH);
    for (let at = 0; at < records.length; at += RECORD_WORDS)
      added.push(records.slice(at, at + RECORD_WORDS));
    await keys.commit(records);
  }
  return added;
}

async function expectAllKnown(keys: TestKeys, records: Uint32Array[]): Promise<void> {
  const batch = batchOf(new Uint32Array(bytesOf(records).buffer));
  await onceKeysAreRead(() => keys.store().claim(batch));
  expect(batch.outcomes.every((outcome) => outcome === OUTCOME.duplicate)).toBe(true);
  expect(Buffer.from(batch.records.buffer).equals(bytesOf(records))).toBe(true);
}

function bytesOf(records: Uint32Array[]): Uint8Array {
  const bytes = new Uint8Array(records.length * RECORD_WORDS * 4);
  records.forEach((record, at) => {
    bytes.set(new Uint8Array(record.buffer), at * RECORD_WORDS * 4);
  });
  return bytes;
}
