import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, onTestFinished, vi } from 'vitest';
import { systemClock } from '../infra/ports/clock.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { createListener } from '../infra/postgres/listen.ts';
import { deferred } from '../tests/support/deferred.ts';
import { TEST_NOW_MS } from '../tests/support/event-line.ts';
import type { LoggedEvent } from '../tests/support/load-frames.ts';
import type { Counted, LoadStores } from '../tests/support/load-stores.ts';
import type { AggregatorOptions } from './aggregator-options.ts';
import { type Aggregator, type AggregatorDeps, startAggregator } from './start-aggregator.ts';

/** What tests of the load wait with: for a condition, never for a time. */
export const WAIT = { timeout: 20_000, interval: 10 };

export function start(
  stores: LoadStores,
  faults: Partial<AggregatorDeps> = {},
  options: Partial<AggregatorOptions> = {},
): Aggregator {
  const { pool, postgresUrl, warehouse, reader } = stores;
  const log = pino({ level: 'silent' });
  const rest = { clock: systemClock, log, metrics: new Registry(), disk: { isLow: () => false } };
  const kept = { eventsRetentionDays: undefined, eventAheadMsMax: 300_000 };
  const deps = { pool, warehouse, reader, ...kept, ...rest, ...faults };
  const aggregator = startAggregator(deps, { owner: 'test', lingerMs: 50, ...options });
  const listener = createListener({ url: () => postgresUrl, log }, { channels: aggregator.channels });
  onTestFinished(async () => {
    await listener.close();
    await aggregator.close();
  });
  return aggregator;
}

export function withInsert(
  { warehouse }: LoadStores,
  act: (insert: () => Promise<void>) => Promise<void>,
): Warehouse {
  return { ...warehouse, insertEvents: (block) => act(() => warehouse.insertEvents(block)) };
}

/** Values and customers follow from the number; times go back a minute each. */
export function events(from: number, to: number): LoggedEvent[] {
  return Array.from({ length: to - from }, (_, at) => ({
    id: `event ${from + at}`,
    customerId: `cus_${(from + at) % 3}`,
    value: `${from + at}.25`,
    occurredAtMs: TEST_NOW_MS - (from + at) * 60_000,
  }));
}

/** The events from 0 on, each once, in every table. */
export function exactly(count: number): Counted {
  const total = String((count * (count - 1)) / 2 + count / 4);
  return { rows: count, distinct: count, total, hourlyEvents: count, hourlyTotal: total };
}

export async function settledUpTo(stores: LoadStores, position: number): Promise<void> {
  await vi.waitFor(async () => expect(await isSettled(stores, position)).toBe(true), WAIT);
}

export async function isSettled(stores: LoadStores, position: number): Promise<true | undefined> {
  const all = await ranges(stores);
  return all.at(-1)?.hi === position && all.every(({ state }) => state === 'settled') ? true : undefined;
}

export interface LoadedRange {
  hi: number;
  state: string;
  dropped: number[];
}

export async function ranges({ pool }: LoadStores): Promise<LoadedRange[]> {
  const { rows } = await pool.query<LoadedRange>('SELECT hi, state, dropped FROM log_ranges ORDER BY lo');
  return rows;
}

export async function alarms({ pool }: LoadStores): Promise<string[]> {
  const { rows } = await pool.query<{ code: string }>('SELECT code FROM partition_alarms ORDER BY code');
  return rows.map(({ code }) => code);
}

export interface End {
  /** The step that is not taken, until it is released. */
  here(): Promise<void>;
  reached: Promise<void>;
  release(): void;
}

export function createEnd(): End {
  const [reached, released] = [deferred<void>(), deferred<void>()];
  return {
    here: () => {
      reached.resolve();
      return released.promise;
    },
    reached: reached.promise,
    release: released.resolve,
  };
}
