import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { expireCredits } from '../../infra/credits/move-credits.ts';
import {
  inJobTransaction,
  type JobEpoch,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../infra/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { findExpiredWallets, nextExpiryAt } from '../../infra/store/credit-grants.ts';
import type { WalletPlace } from '../../infra/store/credit-wallets.ts';
import { Transient } from '../../schemas/failures.ts';

export interface CreditExpiryDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
}

export interface CreditExpiryOptions {
  owner?: string;
  /** At most so long between two looks; sooner where something expires sooner. */
  everyMs?: number;
}

export const CREDIT_EXPIRY = 'credit-expiry';

/** Far less than a lease's worth. */
const CHUNK = 200;
/** In one look: with so many something is wrong that concerns all. */
const FAILURES_MAX = 100;

/**
 * Takes out of wallets what has expired. It is burned no more from its very moment on, whoever comes first;
 * here it gets its entries, and the customer is told, within 10 s.
 */
export function startCreditExpiry(deps: CreditExpiryDeps, options: CreditExpiryOptions = {}): LeasedJob {
  const { pool, clock } = deps;

  /** Then how long there is nothing to do, at most. */
  async function look(turn: JobTurn): Promise<number | undefined> {
    if (!(await expireDue(deps, turn))) return undefined;
    const nextAt = await nextExpiryAt(pool);
    return nextAt && nextAt.getTime() - clock.nowMs();
  }

  return startLeasedJob(deps, { ...options, job: CREDIT_EXPIRY, look });
}

/** False when some is left: another process has the lease, or a wallet failed, which holds up no other. */
async function expireDue({ pool, clock, log }: CreditExpiryDeps, turn: JobTurn): Promise<boolean> {
  const failed: string[] = [];
  while (!turn.signal.aborted && failed.length < FAILURES_MAX) {
    const epoch = await turn.hold();
    if (epoch === undefined) return false;
    const nowMs = clock.nowMs();
    const question = { now: new Date(nowMs), except: failed, limit: CHUNK };
    const places = await findExpiredWallets(pool, question);
    if (places.length === 0) break;
    failed.push(...(await expireChunk({ pool, job: turn.job, epoch, nowMs, log }, places)));
  }
  return failed.length === 0;
}

/** All at once; where that fails one after the other. Gives those that failed. */
async function expireChunk(
  turn: JobEpoch & { nowMs: number; log: Logger },
  places: readonly WalletPlace[],
): Promise<string[]> {
  try {
    await inJobTransaction(turn, (db) => expireCredits(db, { nowMs: turn.nowMs, places }));
    return [];
  } catch (err) {
    const cause = asTransient(err);
    if (cause instanceof Transient) throw cause;
    const [place, ...others] = places;
    if (place && others.length === 0) {
      turn.log.error({ err, customer: place.customerId }, 'credits could not be taken out');
      return [place.customerId];
    }
  }
  const failed: string[] = [];
  for (const place of places) failed.push(...(await expireChunk(turn, [place])));
  return failed;
}
