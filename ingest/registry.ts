import type pg from 'pg';
import { createCircuitBreaker } from '../infra/platform/circuit-breaker.ts';
import type { Clock } from '../infra/ports/clock.ts';
import { otherModeOf } from '../schemas/primitives/environment.ts';
import type { Invalidation } from '../schemas/stored/channels.ts';
import type { Customer, CustomerMeter, Meter, UsageRegistry } from './registry-entries.ts';
import { type BackfillOutcome, findBackfill } from './store/find-backfill.ts';
import { findCustomers } from './store/find-customers.ts';
import { findNames } from './store/find-names.ts';
import { findOrMakeMeters } from './store/find-or-make-meters.ts';

export interface RegistryOptions {
  /** Entries of the cache at most: customers, and each (customer, meter); about 0.5 KB each. */
  entriesMax: number;
  clock: Clock;
}

export interface Registry extends UsageRegistry, Backfills {
  /** A row changed: what is cached of it is forgotten. */
  forget(change: Invalidation): void;
  /** Invalidations may have been missed: the cache is cleared. */
  clear(): void;
}

/** Sessions of usage that counts once they are closed. */
export interface Backfills {
  /** Queried each time: a session that was closed before the request takes none of it. Throws Transient. */
  findBackfill(environment: string, id: string): Promise<BackfillOutcome>;
}

/** The customers and meters of the hot path. */
export function createRegistry(pool: pg.Pool, options: RegistryOptions): Registry {
  const caches = createCaches(options.entriesMax);
  // Grows with every invalidation: a query that was running at that time is used once, but not cached; and
  // what others keep of what they found is forgotten.
  let generation = 0;
  const breaker = createCircuitBreaker(options.clock);

  async function fillCustomers(environment: string, names: Set<string>): Promise<Map<string, Customer>> {
    const requested = generation;
    const found = await findCustomers(pool, environment, [...names]);
    if (requested !== generation) return found;
    const { customers } = caches.make(environment, found.size);
    for (const [name, customer] of found) customers.set(name, customer);
    return found;
  }

  async function fillMeters(environment: string, names: Set<string>): Promise<Map<string, Meter>> {
    const requested = generation;
    const found = await findOrMakeMeters(pool, environment, [...names]);
    if (requested !== generation) return found;
    const { meters } = caches.make(environment, found.size);
    for (const [name, meter] of found) meters.set(name, meter);
    return found;
  }

  return {
    get generation() {
      return generation;
    },
    findCustomer: (environment, name) => caches.find(environment)?.customers.get(name),
    findMeter: (environment, name) => caches.find(environment)?.meters.get(name),

    fillCustomers: (environment, names) => breaker(() => fillCustomers(environment, names)),
    fillMeters: (environment, names) => breaker(() => fillMeters(environment, names)),
    namesInOtherMode: (environment, kind, names) =>
      breaker(() => findNames(pool, { environment: otherModeOf(environment), kind, names: [...names] })),
    findBackfill: (environment, id) => breaker(() => findBackfill(pool, environment, id)),
    customerMeterOf(environment, customer, meter) {
      const known = customer.customerMeters.get(meter.key);
      if (known?.meter === meter) return known;
      const customerMeter = makeCustomerMeter(environment, customer, meter);
      if (!known) caches.make(environment, 1);
      customer.customerMeters.set(meter.key, customerMeter);
      return customerMeter;
    },

    forget({ kind, environment }) {
      if (kind !== 'customer' && kind !== 'meter') return;
      generation++;
      // Changes of customers and meters are rare compared to events: clearing the whole cache is the simplest
      // safe way.
      caches.drop(environment);
    },
    clear() {
      generation++;
      caches.clear();
    },
  };
}

interface Cache {
  customers: Map<string, Customer>;
  meters: Map<string, Meter>;
  /** What it adds to the count of all; at least what it holds. */
  entries: number;
}

/**
 * A cache for each environment. When all together are full they are cleared: a working set beyond the bound
 * costs one query per request, and no memory.
 */
function createCaches(entriesMax: number) {
  const caches = new Map<string, Cache>();
  let entries = 0;

  function clear(): void {
    caches.clear();
    entries = 0;
  }

  return {
    find: (environment: string) => caches.get(environment),
    /** The environment's cache, with room for so many more entries. */
    make(environment: string, added: number): Cache {
      if (entries + added > entriesMax) clear();
      const cache = caches.get(environment) ?? { customers: new Map(), meters: new Map(), entries: 0 };
      caches.set(environment, cache);
      cache.entries += added;
      entries += added;
      return cache;
    },
    drop(environment: string): void {
      entries -= caches.get(environment)?.entries ?? 0;
      caches.delete(environment);
    },
    clear,
  };
}

function makeCustomerMeter(environment: string, customer: Customer, meter: Meter): CustomerMeter {
  const json = [environment, customer.id, meter.key].map((text) => JSON.stringify(text)).join(',');
  return { meter, json, fingerprint: `${customer.id}\u0000${meter.key}\u0000` };
}
