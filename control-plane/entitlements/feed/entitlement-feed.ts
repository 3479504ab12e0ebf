import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { everySoOften } from '../cache/repeat.ts';
import { createFeedPositions } from './feed-positions.ts';
import { createFeedReader, type FeedReaderDeps } from './feed-reader.ts';
import { createFeedRefresh } from './feed-refresh.ts';
import { createTimeEvents } from './feed-time.ts';
import {
  createFeedViewers,
  FEED_LIMITS,
  type FeedLimits,
  type FeedViewer,
  type FeedViewers,
} from './feed-viewers.ts';
import { createSeenCustomers } from './seen-customers.ts';
import { createWatchedCustomers, type Watched, type WatchedCustomers } from './watched-customers.ts';

/** Streams of entitlements and their changes, to the clients of this process that decide themselves. */
export interface EntitlementFeed {
  /**
   * Throws Rejected `rate_limited` when the environment or the process has as many streams, or watches as
   * many customers, as it may.
   */
  open(viewer: FeedViewer): Readable;
  /** Ends all streams; from now on none begins. */
  end(): void;
  gauges: { streams(): number; customers(): number; cutOff(): number };
}

export interface EntitlementFeedDeps extends FeedReaderDeps {
  /** Up to when everything is counted. */
  asOfMs(): number;
}

/** Changes within one turn are sent together. */
const TURN_MS = 250;
const TURNS_OF_SECOND = 4;
/** How long a client that was cut off finds what it has missed. */
const KEPT_IDLE_MS = 60_000;

export function createEntitlementFeed(
  deps: EntitlementFeedDeps,
  limits: FeedLimits = FEED_LIMITS,
): EntitlementFeed {
  const { clock, entitlementCache: caches, log } = deps;
  const watched = createWatchedCustomers();
  const refresh = createFeedRefresh({ caches, watched, readState: createFeedReader(deps), clock });
  const viewers = createFeedViewers({ clock, watched, limits });
  const seen = createSeenCustomers({ customers: caches.customers, watched, viewers, limits });
  const positions = createFeedPositions(randomBytes(6).toString('base64url'));
  let turns = 0;

  function turn(): void {
    const nowMs = clock.monotonicMs();
    viewers.turn();
    if (++turns % TURNS_OF_SECOND === 0) {
      seen.find();
      viewers.second(createTimeEvents({ latestMs: deps.asOfMs(), nowMs: clock.nowMs() }, watched));
    }
    for (const customer of watched.all()) {
      const { idleSinceMs = nowMs } = customer;
      if (nowMs - idleSinceMs > KEPT_IDLE_MS) forget(customer);
      else refresh.look(customer);
    }
  }

  function forget(customer: Watched): void {
    watched.forget(customer);
    seen.forget(customer);
  }

  const onFailure = (err: unknown) => log.error({ err }, 'a turn of the entitlement feed failed');
  const stop = everySoOften(TURN_MS, async () => turn(), onFailure);
  return {
    open(viewer) {
      const { environment, names, lastEventId } = viewer;
      const set = positions.setOf(environment, names ?? seen.generationOf(environment));
      const customers = names?.length ?? seen.of(environment).size;
      const position = () => positions.idOf(set, watched.position);
      const hadUpTo = positions.read(set, lastEventId);
      const feed = viewers.admit(viewer, { customers, position, isResumed: hadUpTo >= 0 });
      const isKnown = (customer: Watched, sinceAt: number) =>
        customer.state !== undefined &&
        /* mutant: resumed-feed-skips-changes */ Math.max(sinceAt, customer.changedAt) <= hadUpTo;
      const wanted = names?.map((name) => watched.watch(environment, name)) ?? seen.of(environment).keys();
      for (const customer of wanted) {
        const sinceAt = names ? customer.sinceAt : (seen.of(environment).get(customer) ?? hadUpTo + 1);
        viewers.join(feed, customer, isKnown(customer, sinceAt));
        if (!customer.state) refresh.read(customer);
      }
      feed.stream.pump();
      return feed.stream.body;
    },
    end() {
      stop();
      viewers.end();
    },
    gauges: gaugesOf(viewers, watched),
  };
}

function gaugesOf(viewers: FeedViewers, watched: WatchedCustomers): EntitlementFeed['gauges'] {
  return {
    streams: () => viewers.open.size,
    customers: () => watched.size,
    cutOff: viewers.cutOff,
  };
}
