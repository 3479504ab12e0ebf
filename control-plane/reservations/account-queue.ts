import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, type Pool } from 'pg';
import type { Clock } from '../../infra/ports/clock.ts';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { isTimeout, throwTransient } from '../../infra/postgres/unavailable.ts';
import { Rejected } from '../../schemas/failures.ts';
import { createBatchByKey } from '../entitlements/cache/batch-by-key.ts';
import { keyInUse, type Response, RIVAL_WAIT_MS } from '../http/idempotent.ts';
import { createTenantSemaphore, type SemaphoreLimits } from '../http/tenant-semaphore.ts';
import type { ReservationMetrics } from '../metrics.ts';
import { createRecentNames } from '../store/recent-names.ts';
import { makeAccounts } from '../store/reservation-accounts.ts';
import type { AccountRequest } from './account-request.ts';
import { decideTogether, LOCK_WAIT_MS, type Outcome } from './decide-together.ts';

export interface AccountQueueDeps {
  pool: Pool;
  sealingKey: Buffer;
  clock: Clock;
  metrics: ReservationMetrics;
}

/**
 * Decides requests of accounts. Those of an environment that arrive while its transaction is in flight are
 * decided together in the next one, so that a flush of Postgres serves all of them.
 */
export interface AccountQueue {
  /**
   * Resolves once the response is durable. Throws Rejected for what this request cannot do, or while there
   * is too much to do, and Transient with an unknown outcome.
   */
  decide(request: AccountRequest): Promise<Response>;
}

/**
 * Of the pool's 20 connections four at most, one of each environment. How many requests wait is bounded by
 * the places for requests (control-plane/http/request-slots.ts).
 */
const TRANSACTIONS: SemaphoreLimits = {
  underWayMax: 4,
  shareMax: 1,
  waitingMax: 512,
  waitingShareMax: 1,
  waitMs: 5_000,
};
/** Between two tries of a request whose key another process has. */
const AGAIN_MS = 10;
/** No request removes an account, so a name may be known for long. */
const KNOWN_ACCOUNTS = { countMax: 20_000, keptMs: 3_600_000 };

const LIMITS = { lockWaitMs: LOCK_WAIT_MS };

interface Waiting {
  request: AccountRequest;
  outcome: Outcome;
}

export function createAccountQueue(deps: AccountQueueDeps): AccountQueue {
  const { pool, clock, sealingKey, metrics } = deps;
  const gate = createTenantSemaphore(TRANSACTIONS, 'changes of reservations');
  let knownAccounts = createRecentNames(KNOWN_ACCOUNTS);

  /** There are some of one environment at least. */
  async function decideAll(waiting: Waiting[]): Promise<void> {
    const requests = waiting.map(({ request }) => request);
    const environment = requests[0]?.environment ?? '';
    const customerIds = [...new Set(requests.map(({ customerId }) => customerId))];
    const together = { environment, customerIds, requests, nowMs: clock.nowMs, sealingKey };
    const { outcomes, expired } = await gate.run(environment, async () => {
      await requireAccounts(environment, customerIds);
      // mutant: hold-granted-before-its-commit
      return await inTransaction(pool, (client) => decideTogether(client, together), LIMITS);
    });
    metrics.ended('expired', expired);
    for (const [at, one] of waiting.entries()) one.outcome = outcomes[at] ?? { again: true };
  }

  async function requireAccounts(environment: string, customerIds: string[]): Promise<void> {
    const missing = customerIds.filter((id) => !knownAccounts.has(`${environment} ${id}`));
    if (missing.length === 0) return;
    await makeAccounts(pool, environment, missing);
    for (const id of missing) knownAccounts.add(`${environment} ${id}`);
  }

  const decideInTurn = createBatchByKey<Waiting>(decideAll);

  return {
    async decide(request) {
      const untilMs = clock.monotonicMs() + RIVAL_WAIT_MS;
      const waiting: Waiting = { request, outcome: { again: true } };
      for (;;) {
        await decideInTurn(request.environment, waiting).catch((error: unknown) => {
          // A database that was restored from a copy lacks accounts that were made since.
          knownAccounts = createRecentNames(KNOWN_ACCOUNTS);
          throwFailure(error);
        });
        const { outcome } = waiting;
        if ('error' in outcome) throw outcome.error;
        if ('response' in outcome) {
          if (outcome.outcome) metrics.ended(outcome.outcome, 1);
          return outcome.response;
        }
        if (clock.monotonicMs() >= untilMs) throw keyInUse();
        await delay(AGAIN_MS);
      }
    },
  };
}

/** Of all requests of a transaction. One that waited too long for a lock has changed nothing. */
function throwFailure(error: unknown): never {
  if (error instanceof DatabaseError && isTimeout(error)) {
    throw new Rejected('overloaded', 'The reservations of this customer are busy. Retry the request.');
  }
  return throwTransient(error);
}
