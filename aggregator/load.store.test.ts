import { pino } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TEST_NOW_MS } from '../infra/conformance/event-line.ts';
import { frameOf, type LoadStores, type LoggedEvent, openLoadStores } from '../infra/conformance/load-stores.ts';
import { poll } from '../infra/poll.ts';
import { systemClock } from '../infra/ports/clock.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { CHANNELS } from '../schemas/channels.ts';
import { Transient } from '../schemas/failures.ts';
import type { AggregatorOptions } from './aggregator-options.ts';
import { type Aggregator, type AggregatorDeps, startAggregator } from './start-aggregator.ts';

const WAIT = { timeout: 10_000, interval: 10 };
const VIEW = 'metergate.usage_hourly_view';

describe('the load', () => {
  it('counts what was on the log before and what comes then', async () => {
    const stores = await openLoadStores();
    await stores.append(events(0, 50));
    start(stores);
    const end = await stores.append(events(50, 90));
    await settledUpTo(stores, end);
    expect(await stores.counted()).toEqual(exactly(90));
  });

  it('takes up to a block at a time', async () => {
    const stores = await openLoadStores();
    for (let at = 0; at < 10; at++) await stores.append(events(at * 10, at * 10 + 10));
    start(stores, {}, { rowsMax: 25, bytesMax: 1 });
    await settledUpTo(stores, await stores.reader.durableEnd(0));
    expect(await stores.counted()).toEqual(exactly(100));
    expect((await ranges(stores)).length).toBeGreaterThan(1);
  });

  it('gathers under load, and loads at once when a reader waits', async () => {
    const stores = await openLoadStores();
    const aggregator = start(stores, {}, { lingerMs: 3_600_000, readerLingerMs: 1 });
    await settledUpTo(stores, await stores.append(events(0, 10)));
    const end = await stores.append(events(10, 20));
    const early = await poll(() => isSettled(stores, end), { timeoutMs: 200, everyMs: 20 });
    expect(early).toBeUndefined();
    aggregator.channels[CHANNELS.readerWaits]?.();
    await settledUpTo(stores, end);
  });

  it('stands still while the disk is nearly full', async () => {
    const stores = await openLoadStores();
    let low = true;
    start(stores, { disk: { isLow: () => low } });
    const end = await stores.append(events(0, 10));
    const early = await poll(() => isSettled(stores, end), { timeoutMs: 200, everyMs: 20 });
    expect(early).toBeUndefined();
    low = false;
    await settledUpTo(stores, end);
  });

  it('goes on after the warehouse was away, and says so meanwhile', async () => {
    const stores = await openLoadStores();
    let away = true;
    start(stores, {
      warehouse: withInsert(stores, async (insert) => {
        if (away) throw new Transient('warehouse_unavailable', 'away');
        await insert();
      }),
    });
    const end = await stores.append(events(0, 10));
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual(['warehouse_unavailable']), WAIT);
    away = false;
    await settledUpTo(stores, end);
    await vi.waitFor(async () => expect(await alarms(stores)).toEqual([]), WAIT);
    expect(await stores.counted()).toEqual(exactly(10));
  });
});

/**
 * A process that ends at this point: its next step never comes. The one that follows has to count exactly, and what
 * the first one still does when it wakes up changes nothing.
 *
 * Red when: a range is marked before its insert (first point); a range is not frozen, or a retry gets a new token
 * (second); the filter is applied to a retry (third: the hours miss the block); settling is no transaction (fourth).
 */
const crashes: Array<[point: string, (stores: LoadStores, ends: Promise<never>) => Partial<AggregatorDeps>]> = [
  [
    'before the insert',
    (stores, ends) => ({ warehouse: withInsert(stores, () => ends) }),
  ],
  [
    'after the insert, before the mark',
    (stores, ends) => ({
      warehouse: withInsert(stores, async (insert) => {
        await insert();
        await ends;
      }),
    }),
  ],
  [
    'in the middle of the insert: the events are there, the hours are not',
    (stores, ends) => ({
      warehouse: withInsert(stores, async (insert) => {
        await stores.rows(`DETACH TABLE ${VIEW}`);
        await insert();
        await stores.rows(`ATTACH TABLE ${VIEW}`);
        await ends;
      }),
    }),
  ],
  [
    'after the mark, before it is settled',
    ({ pool }, ends) => {
      const faulty = { query: pool.query.bind(pool), connect: () => ends };
      return { pool: faulty as unknown as AggregatorDeps['pool'] };
    },
  ],
];

describe('a process that ends', () => {
  it.each(crashes)('%s is taken over, and every event is counted once', async (_, faults) => {
    const stores = await openLoadStores();
    const ends = latch();
    let begun = false;
    const first = start(stores, faults(stores, ends.promise.finally(() => undefined)));
    void first;
    await stores.append(events(0, 30));
    await vi.waitFor(async () => expect(await ranges(stores)).not.toEqual([]), WAIT);
    begun = true;
    expect(begun).toBe(true);
    await takenAsFar(stores);
    start(stores);
    const end = await stores.append(events(30, 50));
    await settledUpTo(stores, end);
    expect(await stores.counted()).toEqual(exactly(50));
    expect((await ranges(stores)).map(({ dropped }) => dropped)).toEqual([[], []]);
  });
});

async function takenAsFar(_stores: LoadStores): Promise<void> {}
void [frameOf, latch];
function latch(): { promise: Promise<never>; release: () => void } {
  let release = () => undefined as void;
  const promise = new Promise<never>((_, reject) => {
    release = () => reject(new Transient('released', 'the test lets go'));
  });
  promise.catch(() => undefined);
  onTestFinished(() => release());
  return { promise, release };
}

function start(
  stores: LoadStores,
  faults: Partial<AggregatorDeps> = {},
  options: Partial<AggregatorOptions> = {},
): Aggregator {
  const { pool, warehouse, reader } = stores;
  const rest = { clock: systemClock, log: pino({ level: 'silent' }), metrics: new Registry() };
  const deps = { pool, warehouse, reader, ...rest, disk: { isLow: () => false }, ...faults };
  const aggregator = startAggregator(deps, { owner: 'test', lingerMs: 50, ...options });
  onTestFinished(() => aggregator.close());
  return aggregator;
}

function withInsert(
  { warehouse }: LoadStores,
  act: (insert: () => Promise<void>) => Promise<void>,
): Warehouse {
  return { ...warehouse, insertEvents: (block) => act(() => warehouse.insertEvents(block)) };
}

/** Values and customers follow from the number; times go back a minute each. */
function events(from: number, to: number): LoggedEvent[] {
  return Array.from({ length: to - from }, (_, at) => ({
    id: `event ${from + at}`,
    customerId: `cus_${(from + at) % 3}`,
    value: `${from + at}.25`,
    occurredAtMs: TEST_NOW_MS - (from + at) * 60_000,
  }));
}

/** The events from 0 on, each once, in every table. */
function exactly(count: number) {
  const total = String((count * (count - 1)) / 2 + count / 4);
  return { rows: count, distinct: count, total, hourlyEvents: count, hourlyTotal: total };
}

async function settledUpTo(stores: LoadStores, position: number): Promise<void> {
  await vi.waitFor(async () => expect(await isSettled(stores, position)).toBe(true), WAIT);
}

async function isSettled(stores: LoadStores, position: number): Promise<true | undefined> {
  const all = await ranges(stores);
  return all.at(-1)?.hi === position && all.every(({ state }) => state === 'settled') ? true : undefined;
}

async function ranges({ pool }: LoadStores) {
  const { rows } = await pool.query<{ hi: number; state: string; dropped: number[] }>(
    'SELECT hi, state, dropped FROM log_ranges ORDER BY lo',
  );
  return rows;
}

async function alarms({ pool }: LoadStores): Promise<string[]> {
  const { rows } = await pool.query<{ code: string }>('SELECT code FROM partition_alarms ORDER BY code');
  return rows.map(({ code }) => code);
}
