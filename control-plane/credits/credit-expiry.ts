import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { expireCredits } from '../../domain/credits/move-credits.ts';
import { inJobTransaction, type JobTurn, type LeasedJob, startLeasedJob } from '../../domain/leased-job.ts';
import { findExpiredWallets, nextExpiryAt } from '../../domain/store/credit-grants.ts';
import type { WalletPlace } from '../../domain/store/credit-wallets.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { createBackoffQueue } from '../jobs/backoff-queue.ts';
import { workThrough } from '../jobs/work-through.ts';

export interface CreditExpiryDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
}

export interface CreditExpiryOptions {
  owner?: string;
  /** The longest time between two passes; shorter where something expires sooner. */
  everyMs?: number;
}

export const CREDIT_EXPIRY = 'credit-expiry';

/** Takes far less time than the lease. */
const CHUNK = 200;

/**
 * Takes expired credits out of wallets. Expired credits are never burned after their expiry, whether or not
 * this job has run; the job writes the ledger entries and notifies the customer, within 10 s.
 */
export function startCreditExpiry(deps: CreditExpiryDeps, options: CreditExpiryOptions = {}): LeasedJob {
  const { pool, clock, log } = deps;
  const idOf = ({ customerId }: WalletPlace) => customerId;
  const slow = createBackoffQueue(clock, idOf);

  /** Returns for how long there is nothing to do, at most. */
  async function look(turn: JobTurn): Promise<number | undefined> {
    const isAllDone = await workThrough<WalletPlace>({
      ...{ ...turn, idOf, slow, isTogether: true },
      findDue: (except) => findExpiredWallets(pool, { now: new Date(clock.nowMs()), except, limit: CHUNK }),
      work: (places, epoch) =>
        inJobTransaction({ pool, job: turn.job, epoch }, (db) =>
          expireCredits(db, { nowMs: clock.nowMs(), places }),
        ),
      onFailure: (err, { customerId: customer }) =>
        log.error({ err, customer }, 'expired credits could not be removed from wallets'),
    });
    if (!isAllDone) return undefined;
    const nextAt = await nextExpiryAt(pool);
    return nextAt && nextAt.getTime() - clock.nowMs();
  }

  return startLeasedJob(deps, { ...options, job: CREDIT_EXPIRY, look });
}
