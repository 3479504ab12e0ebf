import type { CustomerCache } from '../cache/customer-cache.ts';
import { type FeedLimits, type FeedViewers, isFullOfCustomers, type OpenFeed } from './feed-viewers.ts';
import type { Watched, WatchedCustomers } from './watched-customers.ts';

/** For feeds that name no customers: those of their environment that were checked lately on this process. */
export interface SeenCustomers {
  /** Of an environment, each with the position since which its feeds tell of it. */
  of(environment: string): ReadonlyMap<Watched, number>;
  /** Another one once a customer of it was forgotten: no feed tells of that one any more. */
  generationOf(environment: string): number;
  /** Tells the feeds of customers that were checked since the last call. */
  find(): void;
  forget(customer: Watched): void;
}

interface SeenCustomersDeps {
  customers: Pick<CustomerCache, 'seen'>;
  watched: WatchedCustomers;
  viewers: FeedViewers;
  limits: FeedLimits;
}

export function createSeenCustomers({
  customers,
  watched,
  viewers,
  limits,
}: SeenCustomersDeps): SeenCustomers {
  const seen = new Map<string, SeenSet>();
  let generations = 0;

  function setOf(environment: string): SeenSet {
    const known = seen.get(environment) ?? { since: new Map<Watched, number>(), generation: ++generations };
    seen.set(environment, known);
    return known;
  }

  function findOf(environment: string, since: Map<Watched, number>, feeds: readonly OpenFeed[]): void {
    for (const id of customers.seen(environment, limits.seenMax)) {
      const known = watched.find(environment, id);
      if (known && since.has(known)) continue;
      // All of its feeds, or none: one that resumes is taken to know what there was.
      if (since.size >= limits.seenMax || !viewers.hasPlaces(feeds.length)) return;
      if (!known && isFullOfCustomers(watched, limits, { environment, more: 1 })) return;
      const customer = watched.watch(environment, id);
      // A feed of its name may have it at this position, which is also that of clients that have not.
      since.set(customer, known ? watched.position + 1 : watched.position);
      for (const feed of feeds) {
        viewers.join(feed, customer, false);
        feed.stream.pump();
      }
    }
  }

  return {
    of: (environment) => setOf(environment).since,
    generationOf: (environment) => setOf(environment).generation,
    find() {
      for (const [environment, { since }] of seen) {
        const feeds = [...viewers.open].filter(({ viewer }) => {
          return viewer.names === undefined && viewer.environment === environment;
        });
        if (feeds.length > 0) findOf(environment, since, feeds);
        else if (since.size === 0) seen.delete(environment);
      }
    },
    forget(customer) {
      const known = seen.get(customer.environment);
      // mutant: forgotten-customer-resumed
      if (known?.since.delete(customer)) known.generation = ++generations;
    },
  };
}

interface SeenSet {
  since: Map<Watched, number>;
  generation: number;
}
