import { bytesOf, type CachedCustomer, cachedCustomer, type ReadCustomer } from './cached-customer.ts';
import { type CacheBounds, type Cached, createLruCache } from './lru-cache.ts';
import { createSingleFlight } from './single-flight.ts';

/** The cache's entry for a customer with too many grants, which are not cached. */
export interface LargeCustomer {
  environment: string;
  customerId: string;
  isLarge: true;
}

export type FoundCustomer = CachedCustomer | LargeCustomer;

/**
 * Customers and their grants, bounded by count and by size: the least recently requested are evicted first.
 */
export interface CustomerCache {
  find(environment: string, name: string, nowMs: number): FoundCustomer | undefined;
  /**
   * By id or external id, as `read` finds it; concurrent requests share one read. Undefined: there is no such
   * customer.
   */
  fill(
    environment: string,
    name: string,
    read: () => Promise<ReadCustomer | LargeCustomer | undefined>,
  ): Promise<FoundCustomer | undefined>;
  forget(customerIds: readonly string[]): void;
  forgetEnvironment(environment: string): void;
  clear(): void;
  /** The ids of those of an environment that are cached, at most so many. */
  seen(environment: string, countMax: number): string[];
  /** The customers to check again. Those not requested within the last minute are dropped instead. */
  nextRound(): CachedCustomer[];
  /** Drops it, unless it was read again meanwhile. */
  drop(customer: CachedCustomer): void;
}

const BOUNDS: CacheBounds = { countMax: 10_000, bytesMax: 64 * 2 ** 20 };
/** Rounds of 5 s: one minute. */
const ROUNDS_KEPT = 12;

interface Entry extends Cached {
  environment: string;
  found: FoundCustomer;
  /** The time when a grant of its credits expires and its balance changes. */
  untilMs: number;
}

export function createCustomerCache(bounds: CacheBounds = BOUNDS): CustomerCache {
  const cache = createLruCache<Entry>(bounds);
  const fills = createSingleFlight<FoundCustomer>();

  return {
    find(environment, name, nowMs) {
      const entry = cache.find(nameOf(environment, name));
      return entry && nowMs < entry.untilMs ? entry.found : undefined;
    },
    fill(environment, customer, read) {
      const name = nameOf(environment, customer);
      return fills.join({ name, environment }, async (isStillValid) => {
        const given = await read();
        const found = given && ('isLarge' in given ? given : cachedCustomer(given));
        if (found && isStillValid(found.customerId)) cache.put(entryOf(name, found));
        return found;
      });
    },
    forget(customerIds) {
      fills.doubt(customerIds);
      for (const id of customerIds) cache.remove(id);
    },
    forgetEnvironment(environment) {
      fills.doubtEnvironment(environment);
      cache.removeWhere((entry) => entry.environment === environment);
    },
    clear() {
      fills.doubtAll();
      cache.removeWhere(() => true);
    },
    seen(environment, countMax) {
      const ids: string[] = [];
      for (const entry of cache.all()) {
        if (entry.environment === environment && ids.push(entry.id) === countMax) break;
      }
      return ids;
    },
    nextRound() {
      cache.nextRound();
      cache.removeWhere((entry) => cache.idleRounds(entry) > ROUNDS_KEPT || 'isLarge' in entry.found);
      return [...cache.all()].flatMap(({ found }) => ('isLarge' in found ? [] : [found]));
    },
    drop(customer) {
      const { customerId } = customer;
      const entry = cache.find(nameOf(customer.environment, customerId));
      if (entry?.found === customer) cache.remove(customerId);
    },
  };
}

function nameOf(environment: string, customer: string): string {
  return `${environment} ${customer}`;
}

function entryOf(name: string, found: FoundCustomer): Entry {
  const { environment, customerId: id } = found;
  const names = [...new Set([name, nameOf(environment, id)])];
  const entry = { id, names, environment, found, bytes: 0, usedRound: 0, untilMs: Number.POSITIVE_INFINITY };
  if ('isLarge' in found) return entry;
  const untilMs = found.credits.nextExpiryAt?.getTime() ?? entry.untilMs;
  return { ...entry, bytes: bytesOf(found), untilMs };
}
