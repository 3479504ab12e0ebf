import type { Logger } from 'pino';
import type { Warehouse } from '../../../infra/ports/warehouse.ts';
import { Transient } from '../../../schemas/failures.ts';
import { readCountersInOrder } from '../../store/read-counter.ts';
import { readManyCounters } from '../../store/read-many-counters.ts';
import type { Freshness } from '../../usage/freshness.ts';
import { beginReadTime } from '../../usage/read-time.ts';
import { createBatchByKey } from './batch-by-key.ts';
import {
  type CachedCounter,
  type CountedTime,
  type CounterPlace,
  type CounterReading,
  type CounterStore,
  createCounterStore,
  type KeptCounter,
} from './counter-store.ts';
import { everySoOften } from './repeat.ts';

/**
 * Counters for decisions. Counters requested within the last minute are refreshed in the background, every
 * half second, many in one statement, and only if something was loaded meanwhile. If nothing was loaded
 * the values stay and only `asOf` advances. While ClickHouse is unavailable neither changes.
 */
export interface CounterCache {
  find(place: CounterPlace): CachedCounter;
  /**
   * For one customer: resolves with the readings in the order of the places. It joins reads in progress, and
   * one statement reads one meter for many customers. Throws Transient for a counter that cannot be read and
   * never was.
   */
  read(places: readonly CounterPlace[]): Promise<CounterReading[]>;
  /** Changes of the environment's usage became visible or were reverted. */
  changed(environment: string): void;
  close(): void;
}

export interface CounterCacheDeps {
  warehouse: Warehouse;
  freshness: Freshness;
  log: Logger;
}

const PAUSE_MS = 500;
/** About one second of ClickHouse; the rest is read in the next cycle. */
const A_TURN_MAX = 8_000;
/** Per statement, of 60 ms: a read of another counter waits for it. One of a hundred takes as long. */
const TOGETHER_MAX = 500;

export function createCounterCache({ warehouse, freshness, log }: CounterCacheDeps): CounterCache {
  const cache = createCounterStore();

  const { readTogether, readFirst } = createCounterReads({ warehouse, freshness }, cache);

  /** While it cannot be read, the last reading is used. */
  async function readingOf(one: KeptCounter): Promise<CounterReading> {
    try {
      await one.underWay;
    } catch (error) {
      if (!(error instanceof Transient)) throw error;
      cache.cannotRead();
      if (!one.reading) throw error;
    }
    return one.reading as CounterReading;
  }

  async function refresh(): Promise<void> {
    const due = cache.due({ asOfMs: freshness.asOfMs(), loadedTo: freshness.loadedTo() });
    for (const together of statementsOf(due.slice(0, A_TURN_MAX))) await readTogether(together);
  }

  const stop = everySoOften(PAUSE_MS, refresh, (err) => {
    if (err instanceof Transient) cache.cannotRead();
    log.debug({ err }, 'cannot read counters; the cached values are used');
  });
  return {
    find: cache.find,
    async read(places) {
      const requested = places.map(cache.find);
      const fresh = requested.filter(({ underWay }) => !underWay);
      const reading = fresh.length === 0 ? undefined : readFirst(fresh);
      for (const one of fresh) one.underWay = reading?.finally(() => isRead(one));
      requested.forEach(cache.use);
      return Promise.all(requested.map(readingOf));
    },
    changed: cache.changed,
    close: stop,
  };
}

type CounterReadDeps = Pick<CounterCacheDeps, 'warehouse' | 'freshness'>;

/** These write what they read into the cache. All throw Transient. */
function createCounterReads({ warehouse, freshness }: CounterReadDeps, cache: CounterStore) {
  async function time(): Promise<CountedTime> {
    await beginReadTime('eventual').within(freshness.arrive());
    return { asOfMs: freshness.asOfMs(), loadedTo: freshness.loadedTo() };
  }

  async function readNow(counters: readonly KeptCounter[]): Promise<void> {
    const [{ place }] = counters as [KeptCounter];
    const places = counters.map((one) => one.place);
    const at = await time();
    const view = await freshness.views.of(place.environment);
    const read = await readCountersInOrder({ warehouse, view }, place, places);
    for (const [n, one] of counters.entries()) cache.learn(one, read[n] ?? '0', at);
  }

  async function readTogether(counters: readonly KeptCounter[]): Promise<void> {
    const [{ place }] = counters as [KeptCounter];
    const owners = counters.map((one) => one.place);
    const at = await time();
    const view = await freshness.views.of(place.environment);
    const read = await readManyCounters({ warehouse, view }, { ...place, owners });
    for (const one of counters) cache.learn(one, read.get(one.place.customerId) ?? '0', at);
  }

  /**
   * After a start all counters are requested at once: read one by one they would time out. Several statements
   * run concurrently, so that each request waits for at most one statement before its own.
   */
  const readInTurn = createBatchByKey<KeptCounter>(async (counters) => {
    const statements = statementsOf(counters);
    await Promise.all(statements.map((some) => (some.length === 1 ? readNow(some) : readTogether(some))));
  });

  /** Several counters of one customer are one statement anyway. */
  function readFirst(counters: readonly KeptCounter[]): Promise<void> {
    const [first] = counters;
    return first && counters.length === 1 ? readInTurn(meterOf(first), first) : readNow(counters);
  }

  return { readTogether, readFirst };
}

function isRead(counter: KeptCounter): void {
  counter.underWay = undefined;
}

function meterOf({ place: { environment, meterKey, aggregation } }: KeptCounter): string {
  return `${environment} ${meterKey} ${aggregation}`;
}

/**
 * Batches of one meter of one environment, each customer at most once, with a bound: where limits of one
 * meter reset at different times, a customer has several of its counters.
 */
function statementsOf(counters: readonly KeptCounter[]): KeptCounter[][] {
  const open = new Map<string, Batch[]>();
  const statements: KeptCounter[][] = [];
  for (const one of counters) {
    const { customerId } = one.place;
    const batches = (open.get(meterOf(one)) ?? []).filter((batch) => batch.counters.length < TOGETHER_MAX);
    let into = batches.find(({ customers }) => !customers.has(customerId));
    if (!into) {
      into = { counters: [], customers: new Set() };
      batches.push(into);
      statements.push(into.counters);
    }
    open.set(meterOf(one), batches);
    into.counters.push(one);
    into.customers.add(customerId);
  }
  return statements;
}

interface Batch {
  counters: KeptCounter[];
  customers: Set<string>;
}
