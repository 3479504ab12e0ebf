import type { Clock } from '../../../infra/ports/clock.ts';
import type { EntitlementCache } from '../cache/entitlement-cache.ts';
import type { ReadFeedState } from './feed-reader.ts';
import { asOfMsOf, changedFeatures } from './feed-state.ts';
import type { Watched, WatchedCustomers } from './watched-customers.ts';

/** Keeps watched customers as the caches have them. */
export interface FeedRefresh {
  /** Compares it with the caches; what is not there any more is read. */
  look(customer: Watched): void;
  /** In a while, unless it is being read, or was a short time ago. */
  read(customer: Watched): void;
}

interface FeedRefreshDeps {
  caches: Pick<EntitlementCache, 'customers' | 'features' | 'counters'>;
  watched: WatchedCustomers;
  readState: ReadFeedState;
  clock: Clock;
}

/** Reads of customers in progress; the others have their turn. */
const READING_MAX = 1_000;
const READ_AGAIN_MS = 1_000;
/** A name without a customer is asked for again: it may have been created. */
const UNKNOWN_AGAIN_MS = 5_000;

export function createFeedRefresh({ caches, watched, readState, clock }: FeedRefreshDeps): FeedRefresh {
  let reading = 0;

  async function readNow(customer: Watched): Promise<void> {
    const state = await readState(customer.environment, customer.name);
    const waitMs = !state ? READ_AGAIN_MS : state.status === 'unknown' ? UNKNOWN_AGAIN_MS : 0;
    customer.readAgainAtMs = clock.monotonicMs() + waitMs;
    if (state) watched.learn(customer, state);
  }

  function read(customer: Watched): void {
    if (customer.isReading || reading >= READING_MAX) return;
    if (clock.monotonicMs() < customer.readAgainAtMs) return;
    customer.isReading = true;
    reading += 1;
    void readNow(customer).finally(() => {
      reading -= 1;
      customer.isReading = false;
    });
  }

  return {
    read,
    look(customer) {
      const { environment, name, state } = customer;
      const nowMs = clock.nowMs();
      const found = caches.customers.find(environment, state?.made?.customer.customerId ?? name, nowMs);
      const changed = state && found && changedFeatures(caches, state, { customer: found, nowMs });
      if (!changed || !state) {
        read(customer);
        return;
      }
      customer.asOfMs = asOfMsOf(state);
      const decisions = changed.map(({ decision }) => decision);
      if (decisions.length > 0) watched.tellUsage(customer, decisions);
    },
  };
}
