import type { Pool } from 'pg';
import type { Clock } from '../../../infra/ports/clock.ts';
import type { CreditsInvalidation, Invalidation } from '../../../schemas/stored/channels.ts';
import { readMarks } from '../../store/grant-versions.ts';
import { readFeaturesAgain } from '../../store/requested-features.ts';
import type { CachedCustomer } from './cached-customer.ts';
import { type CounterCache, type CounterCacheDeps, createCounterCache } from './counter-cache.ts';
import { type CustomerCache, createCustomerCache } from './customer-cache.ts';
import { createFeatureCache, type FeatureCache } from './feature-cache.ts';
import { everySoOften } from './repeat.ts';

/** The caches that entitlement decisions are made from. */
export interface EntitlementCache {
  customers: CustomerCache;
  features: FeatureCache;
  counters: CounterCache;
  invalidate(invalidation: Invalidation): void;
  invalidateCredits(invalidation: CreditsInvalidation): void;
  /** Notifications may have been missed. */
  newSession(): void;
  close(): void;
}

export interface EntitlementCacheDeps extends CounterCacheDeps {
  pool: Pool;
  clock: Pick<Clock, 'monotonicMs'>;
}

/** A notification may be lost with its session, or delayed by one that hangs. */
const CHECK_EVERY_MS = 5_000;
const TOGETHER_MAX = 1_000;
/**
 * How long a process that cannot reach Postgres uses its cache. While Postgres is down nothing can change; a
 * process that is cut off from it may miss changes.
 */
const UNCHECKED_MS_MAX = 600_000;

export function createEntitlementCache(deps: EntitlementCacheDeps): EntitlementCache {
  const { pool, clock, log } = deps;
  const customers = createCustomerCache();
  const features = createFeatureCache();
  const counters = createCounterCache(deps);
  let checkedAtMs = clock.monotonicMs();

  function newSession(): void {
    customers.clear();
    features.clear();
  }

  async function checkAgain(): Promise<void> {
    const startedMs = clock.monotonicMs();
    if (startedMs - checkedAtMs > UNCHECKED_MS_MAX) newSession();
    await checkFeatures(pool, features);
    await checkCustomers(pool, customers);
    checkedAtMs = startedMs;
  }

  const stop = everySoOften(CHECK_EVERY_MS, checkAgain, (err) => {
    log.debug({ err }, 'cannot check whether cached entitlements are still valid');
  });
  return {
    customers,
    features,
    counters,
    invalidate({ kind, environment, id }) {
      if (kind === 'customer' || kind === 'holdings') customers.forget([id]);
      if (kind === 'catalogue' || kind === 'workspace') customers.forgetEnvironment(environment);
      if (kind === 'catalogue' || kind === 'meter') features.forgetEnvironment(environment);
    },
    invalidateCredits({ customerIds }) {
      customers.forget(customerIds);
    },
    newSession,
    close() {
      stop();
      counters.close();
    },
  };
}

async function checkCustomers(pool: Pool, customers: CustomerCache): Promise<void> {
  const requested = customers.nextRound();
  for (let at = 0; at < requested.length; at += TOGETHER_MAX) {
    const together = requested.slice(at, at + TOGETHER_MAX);
    const marks = await readMarks(pool, together.map(placeOf));
    const markOf = new Map(marks.map(({ customerId, mark }) => [customerId, mark]));
    for (const one of together) if (markOf.get(one.customerId) !== one.mark) customers.drop(one);
  }
}

function placeOf({ environment, customerId }: CachedCustomer) {
  return { environment, customerId };
}

/** If a feature was changed or deleted, its whole environment is invalidated: such changes are rare. */
async function checkFeatures(pool: Pool, features: FeatureCache): Promise<void> {
  const all = features.all();
  for (let at = 0; at < all.length; at += TOGETHER_MAX) {
    const together = all.slice(at, at + TOGETHER_MAX);
    const places = together.map(({ environment, feature: { id } }) => ({ environment, id }));
    const now = new Map((await readFeaturesAgain(pool, places)).map((row) => [row.id, JSON.stringify(row)]));
    const changed = together.filter(({ feature }) => now.get(feature.id) !== JSON.stringify(feature));
    for (const { environment } of changed) features.forgetEnvironment(environment);
  }
}
