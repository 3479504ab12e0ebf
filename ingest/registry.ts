import type pg from 'pg';
import type { ChangeNote } from '../schemas/channels.ts';
import type { Customer, Meter, Pair, UsageRegistry } from './registry-entries.ts';
import { findCustomers } from './store/find-customers.ts';
import { findOrMakeMeters } from './store/find-or-make-meters.ts';

export interface RegistryOptions {
  /** Customers, and pairs of customer and meter, that memory holds at most; about 0.5 KB each. */
  entriesMax: number;
}

export interface Registry extends UsageRegistry {
  /** A row changed: what memory holds of it is forgotten. */
  forget(note: ChangeNote): void;
  /** Notes may have been missed: memory starts anew. */
  clear(): void;
}

interface Shelf {
  /** What it adds to the count of all; at least what it holds. */
  entries: number;
  customers: Map<string, Customer>;
  meters: Map<string, Meter>;
}

/**
 * The customers and meters of the hot path. When it is full it starts anew: a working set beyond the bound costs
 * one query per request, and no memory.
 */
export function createRegistry(pool: pg.Pool, options: RegistryOptions): Registry {
  const shelves = new Map<string, Shelf>();
  let entries = 0;
  // Grows with every note: a look-up that was under way meanwhile is used once, but not kept.
  let generation = 0;

  function shelfOf(environment: string): Shelf {
    const known = shelves.get(environment);
    if (known) return known;
    const shelf = { entries: 0, customers: new Map(), meters: new Map() };
    shelves.set(environment, shelf);
    return shelf;
  }

  function clear(): void {
    generation++;
    shelves.clear();
    entries = 0;
  }

  /** The environment's shelf with room for so many more entries: when all are full, a new one. */
  function shelfFor(environment: string, added: number): Shelf {
    if (entries + added > options.entriesMax) clear();
    entries += added;
    const shelf = shelfOf(environment);
    shelf.entries += added;
    return shelf;
  }

  return {
    findCustomer: (environment, name) => shelves.get(environment)?.customers.get(name),
    findMeter: (environment, name) => shelves.get(environment)?.meters.get(name),

    async fillCustomers(environment, names) {
      const asked = generation;
      const found = await findCustomers(pool, environment, [...names]);
      if (asked === generation) {
        const shelf = shelfFor(environment, found.size);
        for (const [name, customer] of found) shelf.customers.set(name, customer);
      }
      return found;
    },

    async fillMeters(environment, names) {
      const asked = generation;
      const found = await findOrMakeMeters(pool, environment, [...names]);
      if (asked === generation) {
        const shelf = shelfFor(environment, found.size);
        for (const [name, meter] of found) shelf.meters.set(name, meter);
      }
      return found;
    },

    pairOf(environment, customer, meter) {
      const known = customer.pairs.get(meter.key);
      if (known?.meter === meter) return known;
      const pair = makePair(environment, customer, meter);
      if (!known) shelfFor(environment, 1);
      customer.pairs.set(meter.key, pair);
      return pair;
    },

    forget({ kind, environment }) {
      if (kind !== 'customer' && kind !== 'meter') return;
      generation++;
      // Changes of customers and meters are rare beside events: the environment's whole shelf is the simplest net.
      const shelf = shelves.get(environment);
      if (!shelf) return;
      entries -= shelf.entries;
      shelves.delete(environment);
    },
    clear,
  };
}

function makePair(environment: string, customer: Customer, meter: Meter): Pair {
  const json = [environment, customer.id, meter.key].map((text) => JSON.stringify(text)).join(',');
  return { meter, json, fingerprint: `${customer.id}\u0000${meter.key}\u0000` };
}
