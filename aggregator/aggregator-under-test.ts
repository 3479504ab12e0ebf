import { Registry } from 'prom-client';
import { expect, onTestFinished, vi } from 'vitest';
import { systemClock } from '../infra/ports/clock.ts';
import type { Warehouse } from '../infra/ports/warehouse.ts';
import { createListener } from '../infra/postgres/listen.ts';
import { deferred } from '../tests/support/deferred.ts';
import { TEST_NOW_MS } from '../tests/support/event-line.ts';
import { eventId, type LoggedEvent } from '../tests/support/load-frames.ts';
import { type Counted, type LoadStores, openLoadStores } from '../tests/support/load-stores.ts';
import { SILENT } from '../tests/support/silent-log.ts';
import type { AggregatorOptions } from './aggregator-options.ts';
import { type Aggregator, type AggregatorDeps, startAggregator } from './start-aggregator.ts';
import type { Place } from './store/leases.ts';

/** What tests of the load wait with: for a condition, never for a time. */
export const WAIT = { timeout: 20_000, interval: 10 };

export function start(
  stores: LoadStores,
  faults: Partial<AggregatorDeps> = {},
  options: Partial<AggregatorOptions> = {},
): Aggregator {
  const { pool, postgresUrl, warehouse, reader } = stores;
  const rest = { clock: systemClock, log: SILENT, metrics: new Registry(), disk: { isLow: () => false } };
  const kept = { eventsRetentionDays: undefined, eventAheadMsMax: 300_000 };
  const deps = { pool, warehouse, reader, ...kept, ...rest, ...faults };
  const aggregator = startAggregator(deps, { owner: 'test', lingerMs: 50, ...options });
  const listener = createListener({ url: () => postgresUrl, log: SILENT }, { channels: aggregator.channels });
  onTestFinished(async () => {
    await listener.close();
    await aggregator.close();
  });
  return aggregator;
}

/** A load at work on stores of its own, for the running test. */
export async function startOnStores(
  ...given: [faults?: Partial<AggregatorDeps>, options?: Partial<AggregatorOptions>]
): Promise<LoadStores> {
  const stores = await openLoadStores();
  start(stores, ...given);
  return stores;
}

/** Its partition, as the database names it. */
export function placeOf({ reader }: Pick<LoadStores, 'reader'>, partition = 0): Place {
  return { logId: Buffer.from(reader.logId).toString('hex'), partition };
}

export async function deleteEvent({ rows }: LoadStores, number: number): Promise<void> {
  const id = eventId(`event ${number}`);
  await rows(`ALTER TABLE metergate.events DELETE WHERE id = '${id}' SETTINGS mutations_sync = 1`);
}

/** As if the owner of the partition had not renewed its lease in time. */
export async function endLeases({ pool }: LoadStores): Promise<void> {
  await pool.query("UPDATE partition_leases SET expires_at = now() - interval '1 second'");
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

/** Puts events on the log, waits until they are settled, and gives the position behind them. */
export async function appendSettled(
  stores: LoadStores,
  ...frame: Parameters<LoadStores['append']>
): Promise<number> {
  const end = await stores.append(...frame);
  await settledUpTo(stores, end);
  return end;
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
    release: () => released.resolve(),
  };
}
