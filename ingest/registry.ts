import type pg from 'pg';
import { createLookUps } from '../infra/platform/circuit-breaker.ts';
import type { Clock } from '../infra/ports/clock.ts';
import { otherModeOf } from '../schemas/primitives/environment.ts';
import type { ChangeNote } from '../schemas/stored/channels.ts';
import type { Customer, Meter, Pair, UsageRegistry } from './registry-entries.ts';
import { findCustomers } from './store/find-customers.ts';
import { findNames } from './store/find-names.ts';
import { findOrMakeMeters } from './store/find-or-make-meters.ts';

export interface RegistryOptions {
  /** Customers, and pairs of customer and meter, that memory holds at most; about 0.5 KB each. */
  entriesMax: number;
  clock: Clock;
}

export interface Registry extends UsageRegistry {
  /** A row changed: what memory holds of it is forgotten. */
  forget(note: ChangeNote): void;
  /** Notes may have been missed: memory starts anew. */
  clear(): void;
}

/** The customers and meters of the hot path. */
export function createRegistry(pool: pg.Pool, options: RegistryOptions): Registry {
  const shelves = createShelves(options.entriesMax);
  // Grows with every note: a look-up that was under way meanwhile is used once, but not kept.
  let generation = 0;
  const lookUp = createLookUps(options.clock);

  async function fillCustomers(environment: string, names: Set<string>): Promise<Map<string, Customer>> {
    const asked = generation;
    const found = await findCustomers(pool, environment, [...names]);
    if (asked !== generation) return found;
    const { customers } = shelves.make(environment, found.size);
    for (const [name, customer] of found) customers.set(name, customer);
    return found;
  }

  async function fillMeters(environment: string, names: Set<string>): Promise<Map<string, Meter>> {
    const asked = generation;
    const found = await findOrMakeMeters(pool, environment, [...names]);
    if (asked !== generation) return found;
    const { meters } = shelves.make(environment, found.size);
    for (const [name, meter] of found) meters.set(name, meter);
    return found;
  }

  return {
    findCustomer: (environment, name) => shelves.find(environment)?.customers.get(name),
    findMeter: (environment, name) => shelves.find(environment)?.meters.get(name),

    fillCustomers: (environment, names) => lookUp(() => fillCustomers(environment, names)),
    fillMeters: (environment, names) => lookUp(() => fillMeters(environment, names)),

    namesInOtherMode: (environment, kind, names) =>
      lookUp(() => findNames(pool, { environment: otherModeOf(environment), kind, names: [...names] })),

    pairOf(environment, customer, meter) {
      const known = customer.pairs.get(meter.key);
      if (known?.meter === meter) return known;
      const pair = makePair(environment, customer, meter);
      if (!known) shelves.make(environment, 1);
      customer.pairs.set(meter.key, pair);
      return pair;
    },

    forget({ kind, environment }) {
      if (kind !== 'customer' && kind !== 'meter') return;
      generation++;
      // Changes of customers and meters are rare beside events: the whole shelf is the simplest net.
      shelves.drop(environment);
    },
    clear() {
      generation++;
      shelves.clear();
    },
  };
}

interface Shelf {
  customers: Map<string, Customer>;
  meters: Map<string, Meter>;
  /** What it adds to the count of all; at least what it holds. */
  entries: number;
}

/**
 * A shelf for each environment. When all together are full they start anew: a working set beyond the bound
 * costs one query per request, and no memory.
 */
function createShelves(entriesMax: number) {
  const shelves = new Map<string, Shelf>();
  let entries = 0;

  function clear(): void {
    shelves.clear();
    entries = 0;
  }

  return {
    find: (environment: string) => shelves.get(environment),
    /** The environment's shelf, with room for so many more entries. */
    make(environment: string, added: number): Shelf {
      if (entries + added > entriesMax) clear();
      const shelf = shelves.get(environment) ?? { customers: new Map(), meters: new Map(), entries: 0 };
      shelves.set(environment, shelf);
      shelf.entries += added;
      entries += added;
      return shelf;
    },
    drop(environment: string): void {
      entries -= shelves.get(environment)?.entries ?? 0;
      shelves.delete(environment);
    },
    clear,
  };
}

function makePair(environment: string, customer: Customer, meter: Meter): Pair {
  const json = [environment, customer.id, meter.key].map((text) => JSON.stringify(text)).join(',');
  return { meter, json, fingerprint: `${customer.id}\u0000${meter.key}\u0000` };
}
