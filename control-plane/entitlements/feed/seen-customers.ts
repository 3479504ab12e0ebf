import type { CustomerCache } from '../cache/customer-cache.ts';
import { type FeedLimits, type FeedViewers, isFullOfCustomers, type OpenFeed } from './feed-viewers.ts';
import type { Watched, WatchedCustomers } from './watched-customers.ts';

/** For feeds that name no customers: those of their environment that were checked lately on this process. */
export interface SeenCustomers {
  /** Of an environment, each with the position since which its feeds tell of it. */
  of(environment: string): ReadonlyMap<Watched, number>;
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
  const seen = new Map<string, Map<Watched, number>>();

  function of(environment: string): Map<Watched, number> {
    const known = seen.get(environment) ?? new Map<Watched, number>();
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
      since.set(customer, watched.position);
      for (const feed of feeds) {
        viewers.join(feed, customer, false);
        feed.stream.pump();
      }
    }
  }

  return {
    of,
    find() {
      for (const [environment, since] of seen) {
        const feeds = [...viewers.open].filter(({ viewer }) => {
          return viewer.names === undefined && viewer.environment === environment;
        });
        if (feeds.length === 0) seen.delete(environment);
        else findOf(environment, since, feeds);
      }
    },
    forget: (customer) => void seen.get(customer.environment)?.delete(customer),
  };
}
