import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type JobTurn, type LeasedJob, startLeasedJob } from '../../domain/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { createBackoffQueue } from '../jobs/backoff-queue.ts';
import type { ClockMetrics } from '../metrics.ts';
import { type DueSubscription, nextDueAt } from '../store/due-subscriptions.ts';
import { moveDue } from './move-due.ts';
import { PROCESSOR_GRACE_MS } from './processor-grace.ts';

export interface SubscriptionClockDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
  metrics: ClockMetrics;
}

export interface SubscriptionClockOptions {
  /** The name of this process, unique at any time. */
  owner?: string;
  leaseMs?: number;
  /** The longest time between two passes; shorter where something is due sooner. */
  everyMs?: number;
}

export const SUBSCRIPTION_CLOCK = 'subscription-clock';

/**
 * Moves subscriptions by time: ends trials, cancels, rolls periods. One process at a time does it, under a
 * lease; the next one catches up with what was missed while no process did.
 */
export function startSubscriptionClock(
  { pool, clock, log, metrics }: SubscriptionClockDeps,
  options: SubscriptionClockOptions = {},
): LeasedJob {
  const slow = createBackoffQueue<DueSubscription>(clock, ({ id }) => id);

  /** Returns for how long there is nothing to do, at most; undefined where something is left. */
  async function look(turn: JobTurn): Promise<number | undefined> {
    const isAllDone = await moveDue({ ...turn, pool, log, metrics, slow, nowMs: clock.nowMs });
    const nextAt = await nextDueAt(pool, PROCESSOR_GRACE_MS);
    metrics.nextDueAt(nextAt);
    return isAllDone && nextAt ? nextAt.getTime() - clock.nowMs() : undefined;
  }

  return startLeasedJob({ pool, log }, { ...options, job: SUBSCRIPTION_CLOCK, look });
}
