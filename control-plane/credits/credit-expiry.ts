import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { expireCredits } from '../../domain/credits/move-credits.ts';
import {
  endsLook,
  inJobTransaction,
  type JobEpoch,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../domain/leased-job.ts';
import { findExpiredWallets, nextExpiryAt } from '../../domain/store/credit-grants.ts';
import type { WalletPlace } from '../../domain/store/credit-wallets.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { asTransient, isTimeout } from '../../infra/postgres/unavailable.ts';
import { type BackoffQueue, createBackoffQueue } from '../jobs/backoff-queue.ts';

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
/** Failures per pass: so many have one common cause. */
const FAILURES_MAX = 100;

/**
 * Takes expired credits out of wallets. Expired credits are never burned after their expiry, whether or not
 * this job has run; the job writes the ledger entries and notifies the customer, within 10 s.
 */
export function startCreditExpiry(deps: CreditExpiryDeps, options: CreditExpiryOptions = {}): LeasedJob {
  const { pool, clock } = deps;
  const slow = createBackoffQueue<WalletPlace>(clock, ({ customerId }) => customerId);

  /** Returns for how long there is nothing to do, at most. */
  async function look(turn: JobTurn): Promise<number | undefined> {
    if (!(await expireDue({ ...deps, ...turn, slow }))) return undefined;
    const nextAt = await nextExpiryAt(pool);
    return nextAt && nextAt.getTime() - clock.nowMs();
  }

  return startLeasedJob(deps, { ...options, job: CREDIT_EXPIRY, look });
}

interface ExpiryLook extends CreditExpiryDeps, JobTurn {
  /** Wallets that took too long. */
  slow: BackoffQueue<WalletPlace>;
}

/** False when some are left: another process has the lease, or a wallet failed, which delays no other. */
async function expireDue(look: ExpiryLook): Promise<boolean> {
  const { pool, clock, signal, slow } = look;
  const failed: WalletPlace[] = [];
  while (!signal.aborted && failed.length < FAILURES_MAX) {
    const epoch = await look.hold();
    if (epoch === undefined) return false;
    const nowMs = clock.nowMs();
    const except = [...failed, ...slow.all()].map(({ customerId }) => customerId);
    const due = await findExpiredWallets(pool, { now: new Date(nowMs), except, limit: CHUNK });
    const late = due.length === 0 ? slow.take() : undefined;
    const places = late ? [late] : due;
    if (places.length === 0) break;
    const failures = await expireChunk({ ...look, epoch, nowMs }, places);
    failed.push(...failures);
    if (late && failures.length > 0) break;
  }
  return failed.length + slow.all().length === 0;
}

/** All at once, or one after the other if that fails. Returns the wallets that failed. */
async function expireChunk(
  turn: ExpiryLook & JobEpoch & { nowMs: number },
  places: readonly WalletPlace[],
): Promise<WalletPlace[]> {
  try {
    await inJobTransaction(turn, (db) => expireCredits(db, { nowMs: turn.nowMs, places }));
    return [];
  } catch (err) {
    if (endsLook(err)) throw asTransient(err);
    const [place, ...others] = places;
    if (place && others.length === 0) {
      turn.log.error(
        { err, customer: place.customerId },
        'expired credits could not be removed from wallets',
      );
      if (isTimeout(err)) turn.slow.add(place);
      return [place];
    }
  }
  const failed: WalletPlace[] = [];
  for (const place of places) {
    if (turn.signal.aborted) break;
    // A statement that timed out took longer than the lease.
    await turn.hold();
    failed.push(...(await expireChunk(turn, [place])));
  }
  return failed;
}
