import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_CHANGES } from '../../../domain/store/usage-views.ts';
import type { Statement, Warehouse } from '../../../infra/ports/warehouse.ts';
import { Transient } from '../../../schemas/failures.ts';
import { deferred } from '../../../tests/support/deferred.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import type { Freshness } from '../../usage/freshness.ts';
import { type CounterCache, createCounterCache } from './counter-cache.ts';
import type { CounterPlace } from './counter-store.ts';

/*
 * Time advances only by `vi.advanceTimersByTimeAsync`; the warehouse returns what the test sets, and counts
 * reads.
 *
 * Mutants this suite catches: every counter read in every cycle; none read again after a load; `asOf` that
 * advances while ClickHouse is unavailable, that stays ahead of the clock, or that is taken after the read; a
 * counter that is refreshed forever although no request needs it; two first requests that read twice; one
 * statement per counter, on the first read or on a refresh; a first request that waits for that of another
 * meter; no bound.
 */
const START_MS = Date.UTC(2026, 10, 22);
const DAY_MS = 86_400_000;

let loadedTo: number;
let stored: number;
let isUnavailable: boolean;
let isHanging = false;
const held = deferred<void>();
let statements: Statement[];
let cache: CounterCache;

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS });
  [loadedTo, stored, isUnavailable, statements] = [10, 7, false, []];
  cache = createCounterCache({ warehouse, freshness, log: SILENT });
});

afterEach(() => {
  cache.close();
  vi.useRealTimers();
});

const freshness = {
  arrive: async () => loadedTo,
  asOfMs: () => Date.now(),
  loadedTo: () => loadedTo,
  views: { of: async () => NO_CHANGES },
} as unknown as Freshness;

const warehouse = {
  async query(statement: Statement) {
    statements.push(statement);
    if (isHanging) await held.promise;
    if (isUnavailable) throw new Transient('warehouse_unavailable', 'ClickHouse is unavailable');
    const { customers = [], meters0 = [] } = (statement.params ?? {}) as Record<string, string[]>;
    const current = String(stored);
    return [
      ...customers.map((customer) => ({ customer, current })),
      ...meters0.map((meter) => ({ part: 0, meter, current })),
    ];
  },
} as unknown as Warehouse;

const placeOf = (customerId = 'cus_a', more: Partial<CounterPlace> = {}): CounterPlace => ({
  environment: 'ws_a:live',
  customerId,
  meterKey: 'calls',
  aggregation: 'sum',
  span: { fromMs: START_MS - DAY_MS, toMs: START_MS + 29 * DAY_MS },
  ...more,
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const current = (place = placeOf()) => cache.find(place).now()?.current;
const asOf = () => (cache.find(placeOf()).now()?.asOfMs ?? Number.NaN) - START_MS;

describe('the counter cache', () => {
  it('reads an unknown counter first, once for all concurrent requests', async () => {
    expect(current()).toBeUndefined();
    const requested = await Promise.all([cache.read([placeOf()]), cache.read([placeOf()])]);
    expect(requested).toEqual([[{ current: '7', asOfMs: START_MS }], [{ current: '7', asOfMs: START_MS }]]);
    expect(statements).toHaveLength(1);
    expect(current()).toBe('7');
  });

  it('reads again when something was loaded, within a second', async () => {
    await cache.read([placeOf()]);
    [loadedTo, stored] = [20, 8];
    await pass(1_000);
    expect(current()).toBe('8');
    expect(statements).toHaveLength(2);
  });

  it('advances its asOf without reading while nothing is loaded', async () => {
    await cache.read([placeOf()]);
    await pass(4_000);
    expect(asOf()).toBeGreaterThanOrEqual(3_000);
    expect(statements).toHaveLength(1);
  });

  it('reads again now and then, for changes without a load', async () => {
    await cache.read([placeOf()]);
    stored = 6;
    for (let second = 0; second < 15; second += 1) {
      await pass(1_000);
      current();
    }
    expect(current()).toBe('6');
  });

  it('reads again when other usage of its environment counts, without a load', async () => {
    await cache.read([placeOf()]);
    stored = 6;
    cache.changed('ws_other:live');
    await pass(1_000);
    expect([current(), statements.length]).toEqual(['7', 1]);
    cache.changed(placeOf().environment);
    await pass(1_000);
    expect([current(), statements.length]).toEqual(['6', 2]);
  });

  it('reads many in few statements, of different spans and meters', async () => {
    const spans = Array.from({ length: 1_200 }, (_, at) => placeOf(`cus_${at}`, spanFrom(START_MS - at)));
    const others = [
      placeOf('cus_1', { meterKey: 'other' }),
      placeOf('cus_1', spanFrom(START_MS - DAY_MS * 9)),
    ];
    for (const place of [...spans, ...others]) await cache.read([place]);
    [statements, loadedTo, stored] = [[], 20, 8];
    await pass(1_000);
    expect([...spans, ...others].map((place) => current(place))).toEqual(Array(1_202).fill('8'));
    expect(statements).toHaveLength(4);
  });

  it('reads first requests of many in few statements, whichever of them fail', async () => {
    const requested = Array.from({ length: 150 }, (_, at) => cache.read([placeOf(`cus_${at}`)]));
    const late = pass(0).then(() => cache.read([placeOf('cus_late')]));
    expect((await Promise.all([...requested, late])).flat()).toHaveLength(151);
    expect(statements.length).toBeLessThanOrEqual(3);
    isUnavailable = true;
    const failing = [placeOf('cus_b'), placeOf('cus_c'), placeOf('cus_0')].map((one) => cache.read([one]));
    const outcomes = await Promise.allSettled(failing);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    isUnavailable = false;
    expect(await cache.read([placeOf('cus_b')])).toMatchObject([{ current: '7' }]);
  });

  it('reads another meter while one hangs', async () => {
    const hanging = cache.read([placeOf()]);
    isHanging = true;
    await pass(0);
    isHanging = false;
    expect(await cache.read([placeOf('cus_a', { meterKey: 'other' })])).toMatchObject([{ current: '7' }]);
    held.resolve();
    expect(await hanging).toMatchObject([{ current: '7' }]);
  });

  it('stops refreshing what was not requested for a minute', async () => {
    await cache.read([placeOf()]);
    await pass(65_000);
    const before = statements.length;
    [loadedTo, stored] = [20, 8];
    await pass(5_000);
    expect(statements).toHaveLength(before);
    expect(current()).toBeUndefined();
    expect(await cache.read([placeOf()])).toMatchObject([{ current: '8' }]);
  });

  it('keeps its values while ClickHouse is unavailable, and its asOf does not advance', async () => {
    await cache.read([placeOf()]);
    [isUnavailable, loadedTo, stored] = [true, 20, 8];
    await pass(30_000);
    const before = asOf();
    await pass(90_000);
    expect([current(), asOf()]).toEqual(['7', before]);
    expect(before).toBeLessThan(1_000);
    await expect(cache.read([placeOf('cus_b')])).rejects.toBeInstanceOf(Transient);
    isUnavailable = false;
    await pass(2_000);
    expect(current()).toBe('8');
  });

  it('notices that ClickHouse is unavailable also while nothing is loaded', async () => {
    await cache.read([placeOf()]);
    isUnavailable = true;
    for (let second = 0; second < 20; second += 1) {
      await pass(1_000);
      current();
    }
    const before = asOf();
    await pass(5_000);
    expect(asOf()).toBe(before);
  });

  it('follows the clock back also while ClickHouse is unavailable', async () => {
    await cache.read([placeOf()]);
    [isUnavailable, loadedTo] = [true, 20];
    await pass(1_000);
    vi.setSystemTime(START_MS - DAY_MS);
    await pass(1_000);
    expect([current(), asOf()]).toEqual(['7', 500 - DAY_MS]);
  });

  it('is bounded: what came first has to be read again', async () => {
    await cache.read([placeOf('cus_0')]);
    for (let at = 1; at <= 20_000; at += 1) cache.find(placeOf(`cus_${at}`));
    expect(current(placeOf('cus_0'))).toBeUndefined();
  });
});

function spanFrom(fromMs: number): Partial<CounterPlace> {
  return { span: { fromMs, toMs: fromMs + 30 * DAY_MS } };
}
