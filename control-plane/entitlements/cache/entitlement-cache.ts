import type { Pool } from 'pg';
import type { Clock } from '../../../infra/ports/clock.ts';
import type { ChangeNote, CreditsNote } from '../../../schemas/stored/channels.ts';
import { readMarks } from '../../store/grant-versions.ts';
import { readFeaturesAgain } from '../../store/requested-features.ts';
import type { RememberedCustomer } from './cached-customer.ts';
import { type CounterMemory, type CounterMemoryDeps, createCounterMemory } from './counter-cache.ts';
import { type CustomerMemory, createCustomerMemory } from './customer-cache.ts';
import { createFeatureMemory, type FeatureMemory } from './feature-cache.ts';
import { everySoOften } from './repeat.ts';

/** The caches that entitlement decisions are made from. */
export interface EntitlementMemory {
  customers: CustomerMemory;
  features: FeatureMemory;
  counters: CounterMemory;
  heard(note: ChangeNote): void;
  heardOfCredits(note: CreditsNote): void;
  /** Notifications may have been missed. */
  newSession(): void;
  close(): void;
}

export interface EntitlementMemoryDeps extends CounterMemoryDeps {
  pool: Pool;
  clock: Pick<Clock, 'monotonicMs'>;
}

/** A notification may be lost with its session, or delayed by one that hangs. */
const LOOK_AGAIN_EVERY_MS = 5_000;
const TOGETHER_MAX = 1_000;
/**
 * While Postgres is unavailable nothing can change through it; a process that is cut off continues this long.
 */
const AWAY_MS_MAX = 600_000;

export function createEntitlementMemory(deps: EntitlementMemoryDeps): EntitlementMemory {
  const { pool, clock, log } = deps;
  const customers = createCustomerMemory();
  const features = createFeatureMemory();
  const counters = createCounterMemory(deps);
  let lookedAtMs = clock.monotonicMs();

  function newSession(): void {
    customers.clear();
    features.clear();
  }

  async function lookAgain(): Promise<void> {
    const startedMs = clock.monotonicMs();
    if (startedMs - lookedAtMs > AWAY_MS_MAX) newSession();
    await lookAtFeatures(pool, features);
    await lookAtCustomers(pool, customers);
    lookedAtMs = startedMs;
  }

  const stop = everySoOften(LOOK_AGAIN_EVERY_MS, lookAgain, (err) => {
    log.debug({ err }, 'cannot check whether cached entitlements are still valid');
  });
  return {
    customers,
    features,
    counters,
    heard({ kind, environment, id }) {
      if (kind === 'customer' || kind === 'holdings') customers.forget([id]);
      if (kind === 'catalogue' || kind === 'workspace') customers.forgetEnvironment(environment);
      if (kind === 'catalogue' || kind === 'meter') features.forgetEnvironment(environment);
    },
    heardOfCredits({ customerIds }) {
      customers.forget(customerIds);
    },
    newSession,
    close() {
      stop();
      counters.close();
    },
  };
}

async function lookAtCustomers(pool: Pool, customers: CustomerMemory): Promise<void> {
  const requested = customers.nextRound();
  for (let at = 0; at < requested.length; at += TOGETHER_MAX) {
    const together = requested.slice(at, at + TOGETHER_MAX);
    const marks = await readMarks(pool, together.map(placeOf));
    const markOf = new Map(marks.map(({ customerId, mark }) => [customerId, mark]));
    for (const one of together) if (markOf.get(one.holder.customerId) !== one.mark) customers.drop(one);
  }
}

function placeOf({ environment, holder }: RememberedCustomer) {
  return { environment, customerId: holder.customerId };
}

/** If a feature has changed or is gone, its whole environment is invalidated: such changes are rare. */
async function lookAtFeatures(pool: Pool, features: FeatureMemory): Promise<void> {
  const all = features.all();
  for (let at = 0; at < all.length; at += TOGETHER_MAX) {
    const together = all.slice(at, at + TOGETHER_MAX);
    const places = together.map(({ environment, feature: { id } }) => ({ environment, id }));
    const now = new Map((await readFeaturesAgain(pool, places)).map((row) => [row.id, JSON.stringify(row)]));
    const changed = together.filter(({ feature }) => now.get(feature.id) !== JSON.stringify(feature));
    for (const { environment } of changed) features.forgetEnvironment(environment);
  }
}
