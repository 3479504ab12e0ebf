import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '../../infra/ports/clock.ts';
import type { ClockMetrics } from '../metrics.ts';
import { nextDueAt } from '../store/due-subscriptions.ts';
import { endJob, holdJob } from '../store/job-leases.ts';
import { moveDue } from './move-due.ts';

export interface SubscriptionClock {
  /** After the moves under way; the next owner may begin at once. */
  close(): Promise<void>;
}

export interface SubscriptionClockDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
  metrics: ClockMetrics;
}

export interface SubscriptionClockOptions {
  /** One process's own at any time. */
  owner?: string;
  leaseMs?: number;
  /** At most so long between two looks; sooner where something is due sooner. */
  everyMs?: number;
}

export const SUBSCRIPTION_CLOCK = 'subscription-clock';

/**
 * Each move comes within 10 s of its moment: also where the owner was killed just after it had held on, and
 * its successor had looked just before that lease ran out.
 */
const LEASE_MS = 6_000;
const EVERY_MS = 2_000;
/** Moments may lie close together, of many subscriptions: so often it looks, and not more. */
const PAUSE_MS_MIN = 100;

/**
 * Moves subscriptions by time: ends trials, cancels, rolls periods. Of all processes one at a time does it,
 * under a lease; what was missed while none did is caught up with.
 */
export function startSubscriptionClock(
  { pool, clock, log, metrics }: SubscriptionClockDeps,
  { owner = randomUUID(), leaseMs = LEASE_MS, everyMs = EVERY_MS }: SubscriptionClockOptions = {},
): SubscriptionClock {
  const closing = new AbortController();
  const { signal } = closing;
  const hold = () => holdJob(pool, SUBSCRIPTION_CLOCK, owner, leaseMs);

  async function keepMoving(): Promise<void> {
    while (!signal.aborted) {
      const pauseMs = await look().catch((err: unknown) => {
        log.warn({ err }, 'subscriptions could not be moved');
        return everyMs;
      });
      await delay(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Then how long there is nothing to do, at most. */
  async function look(): Promise<number> {
    const isAllDone = await moveDue({
      pool,
      log,
      metrics,
      hold,
      job: SUBSCRIPTION_CLOCK,
      nowMs: clock.nowMs,
      signal,
    });
    const nextAt = await nextDueAt(pool);
    metrics.nextDueAt(nextAt);
    if (!isAllDone) return everyMs;
    const aheadMs = nextAt ? nextAt.getTime() - clock.nowMs() : everyMs;
    return Math.min(Math.max(aheadMs, PAUSE_MS_MIN), everyMs);
  }

  const moving = keepMoving();
  return {
    async close() {
      closing.abort();
      await moving;
      await endJob(pool, SUBSCRIPTION_CLOCK, owner).catch((err: unknown) =>
        log.debug({ err }, 'a lease is left to run out'),
      );
    },
  };
}
