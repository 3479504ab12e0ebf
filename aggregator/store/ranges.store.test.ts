import type { Pool } from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { CHANNELS } from '../../schemas/stored/channels.ts';
import { testClient } from '../../tests/support/test-client.ts';
import { databaseUrlOf, testPool } from '../../tests/support/test-pool.ts';
import { acquireLease, endLease, type Place, renewLease } from './leases.ts';
import {
  dropLines,
  endOfRanges,
  freezeRange,
  latestRanges,
  markLoaded,
  markSettled,
  pruneRanges,
  type Range,
  takeOverRanges,
} from './ranges.ts';

const PLACE: Place = { logId: 'aa', partition: 0 };

let pool: Pool;

beforeEach(async () => {
  pool = await testPool();
});

function range(lo: number, hi: number, epoch: number): Range {
  return { ...PLACE, lo, hi, epoch, eventCount: 10, dropped: [], checksum: 4_294_967_295, throughMs: hi };
}

// Each goes red when its condition is taken out of the statement.
describe('a range is frozen', () => {
  it('where the last one ended, and nowhere else', async () => {
    await acquireLease(pool, PLACE, 'a', 60_000);
    expect(await freezeRange(pool, range(5, 10, 1))).toBe(false);
    expect(await freezeRange(pool, range(0, 10, 1))).toBe(true);
    expect(await freezeRange(pool, range(0, 20, 1))).toBe(false);
    expect(await freezeRange(pool, range(11, 20, 1))).toBe(false);
    expect(await freezeRange(pool, range(10, 20, 1))).toBe(true);
    expect(await endOfRanges(pool, PLACE)).toBe(20);
  });

  it('by the epoch that holds the partition', async () => {
    expect(await acquireLease(pool, PLACE, 'a', 60_000)).toBe(1);
    expect(await acquireLease(pool, PLACE, 'a', 60_000)).toBe(2);
    expect(await freezeRange(pool, range(0, 10, 1))).toBe(false);
    expect(await freezeRange(pool, range(0, 10, 2))).toBe(true);
  });

  it('while the lease runs', async () => {
    await acquireLease(pool, PLACE, 'a', 60_000);
    await endLease(pool, PLACE, 1);
    expect(await freezeRange(pool, range(0, 10, 1))).toBe(false);
  });
});

describe('a range that was taken over', () => {
  beforeEach(async () => {
    await acquireLease(pool, PLACE, 'a', 60_000);
    await freezeRange(pool, range(0, 10, 1));
    await freezeRange(pool, range(10, 20, 1));
    await markLoaded(pool, range(0, 10, 1));
    await acquireLease(pool, PLACE, 'a', 60_000);
  });

  it('is given in order with all that a retry needs', async () => {
    expect(await takeOverRanges(pool, PLACE, 2)).toEqual([
      { ...range(0, 10, 2), state: 'loaded' },
      { ...range(10, 20, 2), state: 'pending' },
    ]);
  });

  it('can be marked by the new epoch only', async () => {
    await takeOverRanges(pool, PLACE, 2);
    expect(await markSettled(pool, range(0, 10, 1))).toBe(false);
    expect(await markSettled(pool, range(0, 10, 2))).toBe(true);
    expect(await dropLines(pool, range(10, 20, 1), [1])).toBe(false);
    expect(await markLoaded(pool, range(10, 20, 1))).toBe(false);
    expect(await dropLines(pool, range(10, 20, 2), [1])).toBe(true);
    expect(await markLoaded(pool, range(10, 20, 2))).toBe(true);
    expect(await dropLines(pool, range(10, 20, 2), [2])).toBe(false);
    expect(await markSettled(pool, range(10, 20, 2))).toBe(true);
    expect(await takeOverRanges(pool, PLACE, 2)).toEqual([]);
  });

  it('is not given to an epoch that is over', async () => {
    expect(await takeOverRanges(pool, PLACE, 1)).toEqual([]);
  });
});

describe('a lease', () => {
  it('is held by one owner until it runs out, and every owner has a later epoch', async () => {
    expect(await acquireLease(pool, PLACE, 'a', 60_000)).toBe(1);
    expect(await acquireLease(pool, PLACE, 'b', 60_000)).toBeUndefined();
    expect(await renewLease(pool, PLACE, 1, -1_000)).toBe(true);
    expect(await acquireLease(pool, PLACE, 'b', 60_000)).toBe(2);
    expect(await renewLease(pool, PLACE, 1, 60_000)).toBe(false);
  });
});

it('a mark notifies the listeners of the loaded position', async () => {
  const listener = await testClient(databaseUrlOf(pool));
  const received = new Promise((resolve) => listener.on('notification', ({ payload }) => resolve(payload)));
  await listener.query(`LISTEN ${CHANNELS.loaded}`);
  await acquireLease(pool, PLACE, 'a', 60_000);
  await freezeRange(pool, range(0, 10, 1));
  await markLoaded(pool, range(0, 10, 1));
  expect(JSON.parse(String(await received))).toEqual({ ...PLACE, hi: 10, throughMs: 10 });
});

// Red when a bound is taken out: what is kept of the log, the newest, the state.
it('ranges of what the log gave up are forgotten, but for the newest and the unsettled', async () => {
  await acquireLease(pool, PLACE, 'a', 60_000);
  for (const lo of [0, 10, 20, 30, 40, 50, 60]) {
    const one = { ...range(lo, lo + 10, 1), dropped: lo === 10 ? [3] : [] };
    await freezeRange(pool, one);
    await markLoaded(pool, one);
    if (lo !== 30) await markSettled(pool, one);
  }
  const prune = (keep: number) => pruneRanges(pool, PLACE, { keep, rowsMax: 2 });
  const left = async () =>
    (await pool.query('SELECT lo FROM log_ranges ORDER BY lo')).rows.map(({ lo }) => lo);
  expect(await prune(2)).toBe(0);
  await pool.query("INSERT INTO log_trims (log_id, partition, kept_from) VALUES ('aa', 0, 69)");
  expect([await prune(7), await prune(6)]).toEqual([0, 1]);
  expect(await left()).toEqual([10, 20, 30, 40, 50, 60]);
  expect([await prune(2), await prune(2), await prune(2)]).toEqual([2, 1, 0]);
  expect(await left()).toEqual([30, 50, 60]);
  expect([await prune(0), await prune(0)]).toEqual([1, 0]);
  expect(await left()).toEqual([30, 60]);
  expect(await endOfRanges(pool, PLACE)).toBe(70);
});

it('what was loaded last is given from the newest on', async () => {
  await acquireLease(pool, PLACE, 'a', 60_000);
  for (const lo of [0, 10, 20]) await freezeRange(pool, range(lo, lo + 10, 1));
  expect(await latestRanges(pool, PLACE)).toEqual(
    [20, 10, 0].map((lo) => ({ lo, eventCount: 10, throughMs: lo + 10 })),
  );
});
