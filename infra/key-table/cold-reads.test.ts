import { describe, expect, it } from 'vitest';
import { KeysToRead, OUTCOME } from '../ports/idempotency-store.ts';
import { ColdReads, type GroupPlace } from './cold-reads.ts';
import { batchOf, keysOfThisTest, randomRecords, type TestKeys } from './keys-under-test.ts';
import type { SealedFile } from './sealed-file.ts';

describe('keys that only a file has', () => {
  // Red when what is not read yet is taken for new, or stays claimed.
  it('are read before the decision, which claims nothing until then', async () => {
    const { keys, old } = await withOldKeys();
    const fresh = randomRecords(50);
    const batch = batchOf(Uint32Array.from([...old, ...fresh]));
    const { keyCount } = keys.store();
    const { whenRead } = toRead(keys, batch.records);
    expect(keys.store().keyCount).toBe(keyCount);
    await whenRead;
    expect(keys.store().claim(batch, 'later')).toMatchObject({ created: 50, waits: false });
    const outcomes = [...batch.outcomes];
    expect(outcomes.slice(0, 50)).toEqual(Array(50).fill(OUTCOME.duplicate));
    expect(outcomes.slice(50)).toEqual(Array(50).fill(OUTCOME.created));
    expect(Buffer.from(batch.records.buffer, 0, old.byteLength).equals(Buffer.from(old.buffer))).toBe(true);
  });

  // Red when a closed file is an error: its keys are in another one by then.
  it('are found after a merge has moved them between the read and the claim', async () => {
    const reads = new ColdReads();
    const closed = async () => {
      throw Object.assign(new Error('file closed'), { code: 'EBADF' });
    };
    await whenRead(reads, [placeIn(closed, 1)]);
    expect(reads.kept(placeIn(closed, 1))).toBeUndefined();
  });

  // Red when a decision waits for the disk: it is the one thread of the data plane.
  it('on a disk that hangs are given up in time, and more than so many do not wait at all', async () => {
    const reads = new ColdReads({ timeoutMs: 20, waitingMax: 2 });
    const hangs = () => new Promise<never>(() => undefined);
    const unread = { name: 'Transient', code: 'keys_unread' };
    for (const number of [1, 2]) {
      await expect(whenRead(reads, [placeIn(hangs, number)])).rejects.toMatchObject(unread);
    }
    expect(reads.later([placeIn(hangs, 3)])).toMatchObject(unread);
  });

  it('that were read last are kept, up to so many bytes', async () => {
    const reads = new ColdReads({ keptBytesMax: 300 });
    const places = [1, 2, 3, 4].map((number) => placeIn(async () => ({ bytesRead: 100 }), number));
    for (const place of places) await whenRead(reads, [place, place]);
    expect(places.map((place) => reads.kept(place)?.length)).toEqual([undefined, 100, 100, 100]);
  });
});

/** A group of 100 bytes in a file of this number. */
function placeIn(read: () => Promise<{ bytesRead: number }>, number: number): GroupPlace {
  return { file: { number, path: 'a file', file: { read } } as unknown as SealedFile, at: 0, bytes: 100 };
}

async function whenRead(reads: ColdReads, places: GroupPlace[]): Promise<void> {
  const error = reads.later(places);
  if (!(error instanceof KeysToRead)) throw error;
  await error.whenRead;
}

function toRead(keys: TestKeys, records: Uint32Array): KeysToRead {
  let thrown: unknown;
  try {
    keys.store().claim(batchOf(records.slice()), 'later');
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(KeysToRead);
  return thrown as KeysToRead;
}

/** 50 keys that are in a sealed file and no longer in memory, as they were stored. */
async function withOldKeys(): Promise<{ keys: TestKeys; old: Uint32Array }> {
  const keys = await keysOfThisTest();
  const old = randomRecords(50);
  await keys.commit(old.slice());
  for (let more = 0; more < 10; more++) await keys.commit(randomRecords(100));
  await keys.restart('clean');
  return { keys, old };
}
