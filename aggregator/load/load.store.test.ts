import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMemoryPool, type MemoryPool } from '../../infra/platform/memory-pool.ts';
import { poll } from '../../infra/platform/poll.ts';
import { Transient } from '../../schemas/failures.ts';
import { CHANNELS } from '../../schemas/stored/channels.ts';
import { earlierFrameOf } from '../../tests/support/earlier-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import {
  alarms,
  appendSettled,
  createEnd,
  type End,
  events,
  exactly,
  isSettled,
  ranges,
  settledUpTo,
  start,
  startOnStores,
  WAIT,
  withInsert,
} from '../aggregator-under-test.ts';
import type { AggregatorDeps } from '../start-aggregator.ts';

const HOURS = 'metergate.usage_hourly';

describe('the load', () => {
  it('counts what was on the log before and what comes then', async () => {
    const stores = await openLoadStores();
    const { logId } = stores.writer;
    // Of the releases before, and of this one: they are one block.
    await stores.writer.append([earlierFrameOf(1, logId, events(0, 20))]);
    await stores.writer.append([earlierFrameOf(2, logId, events(20, 30))]);
    await stores.append(events(30, 50));
    start(stores);
    await appendSettled(stores, events(50, 90));
    expect(await stores.counted()).toEqual(exactly(90));
  });

  it('takes up to a block at a time', async () => {
    const stores = await startOnStores({}, { rowsMax: 25 });
    for (let at = 0; at < 10; at++) await stores.append(events(at * 10, at * 10 + 10));
    await settledUpTo(stores, await stores.reader.durableEnd(0));
    expect(await stores.counted()).toEqual(exactly(100));
    expect((await ranges(stores)).length).toBeGreaterThan(1);
  });

  // Red when a block's memory is given back before its lines were inserted.
  it('reads a block from memory that nothing else uses until it is loaded, and gives it back', async () => {
    const pool = createMemoryPool({ pieceBytes: 100_000, keptBytesMax: 1_000_000 });
    let lent = 0;
    const memory: MemoryPool = {
      lend() {
        lent += 1;
        const loan = pool.lend();
        const taken: Buffer[] = [];
        return {
          take(bytes) {
            taken.push(loan.take(bytes));
            return taken.at(-1) as Buffer;
          },
          giveBack() {
            lent -= 1;
            for (const part of taken) part.fill(0);
            loan.giveBack();
          },
        };
      },
    };
    const stores = await startOnStores({ memory });
    for (let at = 0; at < 5; at++) await appendSettled(stores, events(at * 10, at * 10 + 10));
    expect(await stores.counted()).toEqual(exactly(50));
    await vi.waitFor(() => expect(lent).toBe(1), WAIT);
  });

  it('collects under load, and loads at once when a reader waits', async () => {
    const stores = await startOnStores({}, { lingerMs: 3_600_000, readerLingerMs: 1 });
    await appendSettled(stores, events(0, 10));
    const end = await stores.append(events(10, 20));
    const early = await poll(() => isSettled(stores, end), { timeoutMs: 200, everyMs: 20 });
    expect(early).toBeUndefined();
    // Again and again, as readers do: the first may come before the listener's session.
    await vi.waitFor(async () => {
      await stores.pool.query("SELECT pg_notify($1, '')", [CHANNELS.readerWaits]);
      expect(await isSettled(stores, end)).toBe(true);
    }, WAIT);
  });

  it('is paused while the disk is nearly full', async () => {
    let low = true;
    const stores = await startOnStores({ disk: { isLow: () => low } });
    const end = await stores.append(events(0, 10));
    const early = await poll(() => isSettled(stores, end), { timeoutMs: 200, everyMs: 20 });
    expect(early).toBeUndefined();
    low = false;
    await settledUpTo(stores, end);
  });

  it('continues after the warehouse was unavailable, and reports it meanwhile', async () => {
    const stores = await openLoadStores();
    let unavailable = true;
    start(stores, {
      warehouse: withInsert(stores, async (insert) => {
        if (unavailable) throw new Transient('warehouse_unavailable', 'Unavailable.');
        await insert();
      }),
    });
    const end = await stores.append(events(0, 10));
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual(['warehouse_unavailable']), WAIT);
    unavailable = false;
    await settledUpTo(stores, end);
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual([]), WAIT);
    expect(await stores.counted()).toEqual(exactly(10));
  });
});

/**
 * A process that ends at some point: its next step never comes. The process that follows counts exactly, and
 * what the first process still does when it wakes up changes nothing.
 *
 * Red when, by point: a range is marked before its insert; a retry gets a new token, or a range is not
 * frozen; the filter is applied to a retry; settling does not check the epoch.
 */
const ends: Array<[point: string, (stores: LoadStores, end: End) => Partial<AggregatorDeps>]> = [
  ['before the insert', (stores, end) => ({ warehouse: withInsert(stores, () => end.here()) })],
  [
    'after the insert, before the mark',
    (stores, end) => ({ warehouse: withInsert(stores, (insert) => insert().then(end.here)) }),
  ],
  [
    'in the middle of the insert, with the events stored and the hours not',
    (stores, end) => ({
      warehouse: withInsert(stores, async (insert) => {
        await stores.rows(`RENAME TABLE ${HOURS} TO ${HOURS}_away`);
        await expect(insert()).rejects.toMatchObject({ code: 'warehouse_unavailable' });
        await stores.rows(`RENAME TABLE ${HOURS}_away TO ${HOURS}`);
        expect(await stores.counted()).toMatchObject({ rows: 30, hourlyEvents: 0 });
        await end.here();
      }),
    }),
  ],
  [
    'in the middle of the insert, with its token stored and its part missing',
    (stores, end) => ({
      warehouse: withInsert(stores, async (insert) => {
        await insert();
        await stores.rows('ALTER TABLE metergate.events DELETE WHERE true SETTINGS mutations_sync = 1');
        await end.here();
      }),
    }),
  ],
  [
    'after the mark, before it is settled',
    ({ pool }, end) => {
      const faulty = { query: pool.query.bind(pool), connect: () => end.here().then(() => pool.connect()) };
      return { pool: faulty as unknown as AggregatorDeps['pool'] };
    },
  ],
];

describe('a process that ends', () => {
  it.each(ends)('%s is followed by one that counts every event once', async (_, faults) => {
    const stores = await openLoadStores();
    await stores.append(events(0, 30));
    const end = createEnd();
    const first = start(stores, faults(stores, end));
    // Also when the test fails before: closing would wait for it.
    onTestFinished(end.release);
    await end.reached;
    start(stores);
    await appendSettled(stores, events(30, 50));
    expect(await stores.counted()).toEqual(exactly(50));
    const before = await ranges(stores);
    expect(before.map(({ dropped }) => dropped)).toEqual([[], []]);
    const closed = first.close();
    end.release();
    await closed;
    expect(await stores.counted()).toEqual(exactly(50));
    expect(await ranges(stores)).toEqual(before);
  });
});
