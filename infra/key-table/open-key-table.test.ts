import { randomFillSync } from 'node:crypto';
import { appendFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { RECORD_BYTES, RECORD_WORDS } from '../../schemas/stored/record.ts';
import { type Claim, OUTCOME } from '../ports/idempotency-store.ts';
import { keysOfThisTest, type TestKeys } from './keys-under-test.ts';
import { openKeyTable } from './open-key-table.ts';
import { RECORD_HEADER_BYTES } from './record-file.ts';

const BATCH = 20_000;

describe('keys after a kill', () => {
  // Mutants they catch: a checkpoint written before the records are; the log replayed from another position
  // than its own.
  it('are all known, whatever became of the record file beyond its checkpoint', async () => {
    const beyond: Array<(path: string, covered: number) => void> = [
      () => undefined,
      (path, covered) => truncateSync(path, covered),
      (path, covered) => truncateSync(path, covered + 17),
      (path, covered) =>
        writeFileSync(path, Buffer.concat([readFileSync(path).subarray(0, covered), Buffer.alloc(999)])),
      (path) => appendFileSync(path, Buffer.alloc(2_000_000, 7)),
    ];
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, 280_000);
    // So many bring a checkpoint, or before on a slow machine the time that they took.
    await expect.poll(() => coveredBytes(keys), { timeout: 60_000 }).toBeGreaterThan(RECORD_HEADER_BYTES);
    records.push(...(await addKeys(keys, 20_000)));
    for (const harm of beyond) {
      await keys.kill();
      expect(coveredBytes(keys)).toBeLessThan(300_000 * RECORD_BYTES);
      harm(recordsPath(keys), coveredBytes(keys));
      await keys.open();
      expect(keys.store().keyCount).toBe(300_000);
      expectAllKnown(keys, records.slice(-3));
    }
    expectAllKnown(keys, records);
    await keys.restart('clean');
    expect(statSync(recordsPath(keys)).size).toBe(RECORD_HEADER_BYTES + 300_000 * RECORD_BYTES);
  });

  it('are all known when the newest checkpoint was torn: the one before it holds', async () => {
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, 1_000);
    await keys.restart('clean');
    records.push(...(await addKeys(keys, 1_000)));
    await keys.restart('clean');
    await keys.kill();
    tearNewestCheckpoint(checkpointPath(keys));
    await keys.open();
    expect(keys.store().keyCount).toBe(2_000);
    expectAllKnown(keys, records);
  });

  it('are made from the log alone when files of theirs are missing', async () => {
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, 5_000);
    for (const gone of [['records'], ['checkpoint'], ['records', 'checkpoint'], ['']]) {
      await keys.restart('clean');
      await keys.kill();
      for (const name of gone) rmSync(join(keys.folder(), 'keys', name), { recursive: true });
      await keys.open();
      expect(keys.store().keyCount).toBe(5_000);
      expectAllKnown(keys, records);
    }
  });
});

describe('keys so old that only the file has them', () => {
  it('are found there, with their times', async () => {
    const keys = await keysOfThisTest();
    const records = await addKeys(keys, 1_200_000);
    expectAllKnown(keys, records.slice(0, 2));
    expectAllKnown(keys, records.slice(-2));
    const [first = new Uint32Array()] = records;
    const other = first.slice(0, 10);
    other[4] = (other[4] ?? 0) ^ 1;
    const outcomes = new Uint8Array(1);
    keys.store().claim({ count: 1, records: other, readOnly: new Uint8Array(1), outcomes });
    expect([...outcomes]).toEqual([OUTCOME.reused]);
  });
});

describe('keys that cannot be trusted', () => {
  const rejections: Array<[string, string, (keys: TestKeys) => void]> = [
    [
      'that end before their checkpoint',
      'record_file_truncated',
      (keys) => truncateSync(recordsPath(keys), 4_000),
    ],
    ['of which a bit has turned', 'record_file_damaged', (keys) => turnBit(recordsPath(keys), 20_000)],
    ['whose header has a bit turned', 'record_file_damaged', (keys) => turnBit(recordsPath(keys), 10)],
    [
      'whose checkpoint is damaged',
      'record_file_damaged',
      (keys) => writeFileSync(checkpointPath(keys), 'x'),
    ],
    [
      'of another log',
      'record_file_foreign',
      (keys) => rmSync(join(keys.folder(), 'log'), { recursive: true }),
    ],
  ];

  it.each(rejections)('%s are rejected as %s, and left unchanged', async (_, code, harm) => {
    const keys = await keysOfThisTest();
    await addKeys(keys, 5_000);
    await keys.restart('clean');
    await keys.kill();
    harm(keys);
    const content = () => [recordsPath(keys), checkpointPath(keys)].map((path) => crc32(readFileSync(path)));
    const before = content();
    await expect(keys.open()).rejects.toMatchObject({ name: 'Fatal', code });
    expect(content()).toEqual(before);
  });

  it('of another identity key, of a newer version, or ahead of their log are rejected', async () => {
    const keys = await keysOfThisTest();
    await addKeys(keys, 5_000);
    await keys.restart('clean');
    const opening = await keys.openingOf();
    const otherKey = { ...opening, identityCheck: Buffer.alloc(16, 2) };
    await expect(openKeyTable(otherKey)).rejects.toMatchObject({ code: 'identity_key_mismatch' });
    const logReader = { ...opening.logReader, durableEnd: async () => 10 };
    await expect(openKeyTable({ ...opening, logReader })).rejects.toMatchObject({ code: 'log_behind_keys' });
    makeNewer(recordsPath(keys), 0, 44);
    await expect(openKeyTable(opening)).rejects.toMatchObject({ code: 'record_file_newer' });
    for (const at of [0, 4096]) makeNewer(checkpointPath(keys), at, 36);
    await expect(openKeyTable(opening)).rejects.toMatchObject({ code: 'record_file_newer' });
  });
});

/** Adds keys with random records, in frames of 20,000; gives the records. */
async function addKeys(keys: TestKeys, count: number): Promise<Uint32Array[]> {
  const added: Uint32Array[] = [];
  for (let left = count; left > 0; left -= BATCH) {
    const records = randomFillSync(new Uint32Array(Math.min(BATCH, left) * RECORD_WORDS));
    const claim = claimAll(keys, records, OUTCOME.created);
    await keys.store().confirm([claim], await keys.write(new Uint8Array(records.buffer)));
    added.push(records);
  }
  return added;
}

/** Repeats come with other times, and get those of the original. */
function expectAllKnown(keys: TestKeys, added: Uint32Array[]): void {
  for (const original of added) {
    const repeat = original.slice();
    for (let at = 0; at < repeat.length; at += RECORD_WORDS) repeat.fill(1, at + 6, at + RECORD_WORDS);
    claimAll(keys, repeat, OUTCOME.duplicate);
    expect(Buffer.from(repeat.buffer).equals(Buffer.from(original.buffer))).toBe(true);
  }
}

function claimAll(keys: TestKeys, records: Uint32Array, expected: number): Claim {
  const count = records.length / RECORD_WORDS;
  const outcomes = new Uint8Array(count);
  const claim = keys.store().claim({ count, records, readOnly: new Uint8Array(count), outcomes });
  expect(outcomes.every((outcome) => outcome === expected)).toBe(true);
  return claim;
}

function recordsPath(keys: TestKeys): string {
  return join(keys.folder(), 'keys', 'records');
}

function checkpointPath(keys: TestKeys): string {
  return join(keys.folder(), 'keys', 'checkpoint');
}

/** Bytes of the record file that its newest checkpoint promises. */
function coveredBytes(keys: TestKeys): number {
  const content = readFileSync(checkpointPath(keys));
  const counts = [0, 4096].filter((at) => at < content.length).map((at) => content.readBigUInt64LE(at + 16));
  return RECORD_HEADER_BYTES + Math.max(...counts.map(Number)) * RECORD_BYTES;
}

/** Half of it is still what was there before: the record count is the older one. */
function tearNewestCheckpoint(path: string): void {
  const content = readFileSync(path);
  const [first, second] = [0, 4096].map((at) => content.subarray(at, at + 40));
  if (!first || !second || second.length < 40) throw new Error('There is one checkpoint only.');
  const isFirstNewer = first.readBigUInt64LE(8) > second.readBigUInt64LE(8);
  const [older, newer] = isFirstNewer ? [second, first] : [first, second];
  older.copy(newer, 16, 16, 24);
  writeFileSync(path, content);
}

function turnBit(path: string, at: number): void {
  const content = readFileSync(path);
  content[at] = (content[at] ?? 0) ^ 1;
  writeFileSync(path, content);
}

/** The version one up, the checksum right. */
function makeNewer(path: string, at: number, crcAt: number): void {
  const content = readFileSync(path);
  if (at >= content.length) return;
  content.writeUInt16LE(2, at + 4);
  content.writeUInt32LE(crc32(content.subarray(at, at + crcAt)), at + crcAt);
  writeFileSync(path, content);
}
