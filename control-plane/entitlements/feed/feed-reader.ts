import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '../../../infra/ports/clock.ts';
import { Rejected, Transient } from '../../../schemas/failures.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { createBatchByKey } from '../cache/batch-by-key.ts';
import type { FoundCustomer } from '../cache/customer-cache.ts';
import type { CustomerGrantsReads } from '../cache/customer-grants-reads.ts';
import type { EntitlementCache } from '../cache/entitlement-cache.ts';
import { readCustomers } from '../cache/read-customers.ts';
import type { CachedChecks } from '../check/cached-checks.ts';
import { type FeedState, feedState, heldFeatures, UNKNOWN } from './feed-state.ts';

export interface FeedReaderDeps {
  pool: Pool;
  entitlementCache: Pick<EntitlementCache, 'customers' | 'features' | 'counters'>;
  checks: CachedChecks;
  customerGrantsReads: CustomerGrantsReads;
  clock: Clock;
  log: Logger;
}

/**
 * The state of a customer, by its id or external id; what the caches lack is read into them, many customers
 * at once. Undefined: it changed meanwhile, or a store is unavailable; try again later. Never rejects.
 */
export type ReadFeedState = (environment: string, name: string) => Promise<FeedState | undefined>;

interface Asked {
  name: string;
  found(customer: FoundCustomer | undefined): void;
}

/** In the statements of one read. */
const TOGETHER_MAX = 100;

export function createFeedReader(deps: FeedReaderDeps): ReadFeedState {
  const { entitlementCache: caches, checks, clock, log } = deps;

  const fillTogether = createBatchByKey<{ environment: string } & Asked>(async (asked) => {
    for (let at = 0; at < asked.length; at += TOGETHER_MAX) {
      await fill(deps, asked.slice(at, at + TOGETHER_MAX));
    }
  });

  async function findCustomer(environment: string, name: string): Promise<FoundCustomer | undefined> {
    const cached = caches.customers.find(environment, name, clock.nowMs());
    if (cached) return cached;
    let customer: FoundCustomer | undefined;
    const found = (one: FoundCustomer | undefined) => {
      customer = one;
    };
    await fillTogether(environment, { environment, name, found });
    return customer;
  }

  async function read(environment: string, name: string): Promise<FeedState | undefined> {
    // No customer has it, and the statement that reads it with those of others would fail.
    // mutant: unstorable-name-read
    if (!name.isWellFormed() || name.includes('\u0000')) return UNKNOWN;
    const customer = await findCustomer(environment, name);
    if (!customer) return UNKNOWN;
    const nowMs = clock.nowMs();
    const state = feedState(caches, customer, { nowMs, isComplete: false });
    if (state || 'isLarge' in customer) return state;
    const features = heldFeatures(customer.viewAt(nowMs)).map((featureKey) => ({
      featureKey,
      requested: undefined,
    }));
    const context = contextOf(deps, environment);
    await checks.decide(context, { customer: customer.customerId, features, consistency: 'eventual' });
    const again = caches.customers.find(environment, customer.customerId, nowMs);
    return again && feedState(caches, again, { nowMs: clock.nowMs(), isComplete: true });
  }

  return async (environment, name) => {
    try {
      return await read(environment, name);
    } catch (err) {
      if (err instanceof Transient || err instanceof Rejected) log.debug({ err }, 'a feed waits for a store');
      else log.error({ err }, 'the entitlements of a customer cannot be read for a feed');
      return undefined;
    }
  };
}

/** Of one environment. The reads of the cache see which of them were invalidated meanwhile. */
async function fill(
  { entitlementCache: { customers }, customerGrantsReads, ...deps }: FeedReaderDeps,
  asked: ReadonlyArray<{ environment: string } & Asked>,
): Promise<void> {
  const [{ environment } = { environment: '' }] = asked;
  const names = [...new Set(asked.map(({ name }) => name))];
  let reading: ReturnType<typeof readCustomers> | undefined;
  const context = contextOf(deps, environment);
  const readOnce = () => (reading ??= readCustomers({ context, customerGrantsReads }, names));
  await Promise.all(
    asked.map(async ({ name, found }) => {
      found(await customers.fill(environment, name, async () => (await readOnce()).get(name)));
    }),
  );
}

/** That of a request, of which reads use the environment, the time and the pool. */
function contextOf(
  { pool, clock }: Pick<FeedReaderDeps, 'pool' | 'clock'>,
  environment: string,
): RequestContext {
  return {
    environment,
    db: pool,
    nowMs: clock.nowMs(),
    ...{ actor: 'feed', scopes: [], operationId: 'entitlements.feed', requestId: '' },
    ...{ headers: {}, mediaType: 'text/event-stream', onClientClosed: () => undefined },
  };
}
