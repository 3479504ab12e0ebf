import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inTime } from '../../tests/support/in-time.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { KeysToRead, OUTCOME } from '../ports/idempotency-store.ts';
import { ColdReads } from './cold-reads.ts';
import { batchOf, expectAllKnown, keysOfThisTest, randomRecords, type TestKeys } from './keys-under-test.ts';
import type { GroupPlace, SealedFile } from './sealed-file.ts';
import { addKeys, GENERATION_KEYS, upkeepOfThisTest } from './upkeep-under-test.ts';

/** However busy the machine is. */
const PATIENT = { waitMs: 60_000, timeoutMs: 60_000 };
const UNREAD = { name: 'Transient', code: 'keys_unread' };

describe('keys that only a file has', () => {
  // Red when the disk is read in the turn of the decision, or what is not read yet is taken for new.
  it('are read before the decision, which claims nothing until then', async () => {
    const { keys, old } = await withOldKeys();
    const batch = batchOf(Uint32Array.from([...old, ...randomRecords(50)]));
    const { keyCount } = keys.store();
    const { read } = toRead(keys, batch.records);
    expect(keys.store().keyCount).toBe(keyCount);
    await read('a tenant');
    expect(keys.store().claim(batch)).toMatchObject({ created: 50, waits: false });
    expect([...batch.outcomes]).toEqual([...times(50, OUTCOME.duplicate), ...times(50, OUTCOME.created)]);
    expect(Buffer.from(batch.records.buffer, 0, old.byteLength).equals(Buffer.from(old.buffer))).toBe(true);
  });

  // Red when a look into the filter is a decision, or a request decides before it has read.
  it('are not those that only look alike: of two requests that read for one, one creates it', async () => {
    const { keys, old } = await withOldKeys();
    const alike = old.slice(0, 10);
    alike[3] = (alike[3] ?? 0) ^ 1;
    await Promise.all([1, 2].map(() => toRead(keys, alike).read('a tenant')));
    const claims = [1, 2].map(() => keys.store().claim(batchOf(alike.slice())));
    expect(claims).toMatchObject([
      { created: 1, waits: false },
      { created: 0, waits: true },
    ]);
  });

  // Red when those of a file that a merge has removed are taken for new, or for unreadable.
  it('are found after a merge has moved them between the read and the claim', async () => {
    const { keys, old } = await withOldKeys({ sealedAfterMs: 0 });
    await toRead(keys, old).read('a tenant');
    const claim = () => keys.store().claim(batchOf(old.slice()));
    expect(claim()).toMatchObject({ created: 0 });
    // Sixteen files of less than half a generation become one.
    const merged = async () => {
      await keys.commit(randomRecords(6));
      claim();
    };
    await expect(untilItThrows(merged)).resolves.toBeInstanceOf(KeysToRead);
    await expectAllKnown(keys, old);
  });

  // Red when repeats that are not read yet need room, as new keys do.
  it('get their response while too many new keys wait for the disk', () => {
    const { generations } = upkeepOfThisTest();
    addKeys(generations, 4 * GENERATION_KEYS);
    const piece = { batch: batchOf(randomRecords(1)), from: 0, count: 1 };
    const find = { cold: () => undefined };
    expect(generations.claim(piece, find)).toBe('full');
    // Also where it is another piece that has them.
    expect(generations.claim(piece, { ...find, isUnread: () => true })).toBe(false);
  });

  // Red when a store that closes leaves requests to decide behind the end of its log.
  it('are read no more once that is stopped', async () => {
    const { keys, old } = await withOldKeys();
    const late = toRead(keys, old).read('a tenant');
    keys.store().stopReading();
    await expect(late).rejects.toMatchObject(UNREAD);
    await expect(toRead(keys, old).read('a tenant')).rejects.toMatchObject(UNREAD);
  });
});

describe('groups of a file', () => {
  it('that are being read when it is closed are read, later ones are not, and that is no error', async () => {
    const path = join(testFolder(), 'a file');
    writeFileSync(path, Buffer.alloc(200, 7));
    const file = await open(path);
    onTestFinished(() => file.close());
    const [first, second] = [0, 100].map((at) => ({ ...placeIn(file.read.bind(file), 1), at }));
    const reads = new ColdReads();
    const reading = reads.read([first as GroupPlace], 'a tenant');
    await new Promise(process.nextTick); // until it has begun
    await file.close();
    await reading;
    await reads.read([second as GroupPlace], 'a tenant');
    expect(reads.kept(first as GroupPlace)).toEqual(Buffer.alloc(100, 7));
    expect(reads.kept(second as GroupPlace)).toBeUndefined();
  });

  // Red when a request waits for a disk that hangs however long, or all of them do.
  it('on a disk that hangs are given up in time, and for a tenant only so many wait', async () => {
    const reads = new ColdReads({ timeoutMs: 20, waitMs: 20, waitingMax: 4 * 101 });
    const hanging = placeIn(() => new Promise<never>(() => undefined), 1);
    const ends = ['one', 'one', 'one', 'other', 'other'].map(async (tenant) => {
      const reading = reads.read([hanging], tenant).catch((error: unknown) => error);
      const failure = await Promise.race([reading, pass(10_000, 'still waits', { ref: false })]);
      if (failure === 'still waits') return failure;
      expect(failure).toMatchObject(UNREAD);
      return String(failure).includes('too many') ? 'rejected at once' : 'given up';
    });
    expect(await Promise.all(ends)).toEqual([
      'given up',
      'given up',
      'rejected at once',
      'given up',
      'rejected at once',
    ]);
  });

  // Red when a tenant whose requests all need old keys is read for before any other.
  it('are read for one tenant after another', async () => {
    const disk = diskOfThisTest();
    const reads = new ColdReads({ ...PATIENT, turnGroups: 1 });
    const ends = [1, 2, 3].map((number) => reads.read([disk.place(number)], 'many'));
    ends.push(reads.read([disk.place(4)], 'one'), reads.read([disk.place(5)], 'more'));
    for (let number = 1; number <= 5; number++) await disk.next();
    await Promise.all(ends);
    expect(disk.seen).toEqual([1, 2, 4, 5, 3]);
  });

  // Red when what was given up is read all the same, and when waiting uses up the time of the reads.
  it('are read in full once that has begun; what waits too long for its turn is never read', async () => {
    const disk = diskOfThisTest();
    const hasty = new ColdReads({ ...PATIENT, waitMs: 5 });
    const begun = hasty.read([disk.place(1), disk.place(2), disk.place(3)], 'a tenant');
    await expect(hasty.read([disk.place(4)], 'other')).rejects.toMatchObject(UNREAD);
    for (let number = 1; number <= 3; number++) await disk.next();
    await begun;
    const slow = new ColdReads({ ...PATIENT, timeoutMs: 20 });
    const first = slow.read([disk.place(5)], 'a tenant');
    const late = slow.read([placeIn(async () => ({ bytesRead: 100 }), 6)], 'other');
    await expect(inTime(first, 10_000, 'reads that are given up')).rejects.toMatchObject(UNREAD);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await disk.next();
    await late;
    expect(disk.seen).toEqual([3, 2, 1, 5]);
  });

  // Red when a request of many keys counts as one of a key.
  it('of few requests or of many keys wait up to so many', async () => {
    const disk = diskOfThisTest();
    const reads = new ColdReads({ ...PATIENT, waitingMax: 400 });
    const of = (count: number) => Array.from({ length: count }, (_, at) => ({ ...disk.place(1), at }));
    await expect(reads.read(of(101), 'a tenant')).rejects.toMatchObject(UNREAD);
    const most = reads.read(of(100), 'a tenant');
    for (let read = 0; read < 100; read++) await disk.next();
    await most;
  });

  // Red when what a request reads takes the place of what it needs as well: it would never be decided.
  it('that were read last are kept, up to so many bytes, and together those of a request', async () => {
    const reads = new ColdReads({ keptBytesMax: 300 });
    const places = [1, 2, 3, 4, 5].map((number) => placeIn(async () => ({ bytesRead: 100 }), number));
    const [first, , third, , last] = places as [GroupPlace, GroupPlace, GroupPlace, GroupPlace, GroupPlace];
    const keptBytes = () => places.map((place) => reads.kept(place)?.length ?? 0);
    for (const place of places.slice(0, 4)) await reads.read([place, place], 'a tenant');
    expect(keptBytes()).toEqual([0, 100, 100, 100, 0]);
    await reads.read([first, third, last], 'a tenant');
    expect(keptBytes()).toEqual([100, 0, 100, 0, 100]);
  });
});

type Read = (into: Buffer, offset: number, length: number, at: number) => Promise<{ bytesRead: number }>;

/** A group of 100 bytes in a file of this number. */
function placeIn(read: Read, number: number): GroupPlace {
  return { file: { number, path: 'a file', file: { read } } as unknown as SealedFile, at: 0, bytes: 100 };
}

/** A disk that reads when the test says so, and of which files it was asked. */
function diskOfThisTest() {
  const seen: number[] = [];
  const held: Array<() => void> = [];
  const place = (number: number) =>
    placeIn((_, __, bytesRead) => {
      seen.push(number);
      return new Promise((resolve) => held.push(() => resolve({ bytesRead })));
    }, number);
  const next = async () => {
    await new Promise(setImmediate); // until it is asked
    held.shift()?.();
    await new Promise(setImmediate);
  };
  return { seen, place, next };
}

function times(count: number, outcome: number): number[] {
  return Array.from({ length: count }, () => outcome);
}

function toRead(keys: TestKeys, records: Uint32Array): KeysToRead {
  let thrown: unknown;
  try {
    keys.store().claim(batchOf(records.slice()));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(KeysToRead);
  return thrown as KeysToRead;
}

async function untilItThrows(act: () => Promise<void>): Promise<unknown> {
  try {
    for (let tries = 0; tries < 500; tries++) await act();
  } catch (error) {
    return error;
  }
  throw new Error('It does not throw.');
}

/** 50 keys that are in a sealed file and no longer in memory, as they were stored. */
async function withOldKeys({ sealedAfterMs }: { sealedAfterMs?: number } = {}) {
  const keys = await keysOfThisTest();
  keys.sealedAfterMs = sealedAfterMs;
  await keys.restart('clean');
  const old = randomRecords(50);
  await keys.commit(old.slice());
  for (let more = 0; more < 10; more++) await keys.commit(randomRecords(100));
  await keys.restart('clean');
  return { keys, old };
}
