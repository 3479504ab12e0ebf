import type { Pool } from 'pg';
import type { Logger } from 'pino';
import {
  inJobTransaction,
  type JobEpoch,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../domain/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { createBackoffQueue } from '../jobs/backoff-queue.ts';
import { workThrough } from '../jobs/work-through.ts';
import {
  type CreditSchedule,
  findCreditSchedule,
  findDueSchedules,
  nextScheduleAt,
} from '../store/credit-schedules.ts';
import { lockSubscription } from '../store/subscriptions.ts';
import { grantScheduled } from './grant-recurring.ts';

export interface CreditScheduleDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
}

export interface CreditScheduleOptions {
  owner?: string;
  everyMs?: number;
}

export const CREDIT_SCHEDULE = 'credit-schedule';

/** Takes far less time than the lease: some hundred grants per second. */
const CHUNK = 100;

/**
 * Makes the recurring grants that time alone makes due: of a month within a longer period, and of a
 * subscription that begins later than it was created. All others are made with the change that makes them
 * due. One process at a time does it; the next one catches up.
 */
export function startCreditSchedule(
  deps: CreditScheduleDeps,
  options: CreditScheduleOptions = {},
): LeasedJob {
  const { pool, clock, log } = deps;
  const idOf = ({ subscriptionId }: CreditSchedule) => subscriptionId;
  const slow = createBackoffQueue(clock, idOf);

  /** Returns for how long there is nothing to do, at most. */
  async function look(turn: JobTurn): Promise<number | undefined> {
    const isAllDone = await workThrough<CreditSchedule>({
      ...{ ...turn, idOf, slow, isTogether: false },
      findDue: (except) => findDueSchedules(pool, new Date(clock.nowMs()), { except, limit: CHUNK }),
      work: async ([due], epoch) => {
        if (due) await grantDueOf({ pool, job: turn.job, epoch }, due, clock.nowMs());
      },
      onFailure: (err, { subscriptionId: subscription }) =>
        log.error({ err, subscription }, 'recurring credits could not be granted'),
    });
    if (!isAllDone) return undefined;
    const nextAt = await nextScheduleAt(pool);
    return nextAt && nextAt.getTime() - clock.nowMs();
  }

  return startLeasedJob(deps, { ...options, job: CREDIT_SCHEDULE, look });
}

/** Its schedule is read again under the subscription's lock: it may have changed since it was found due. */
export function grantDueOf(
  epoch: JobEpoch,
  { environment, subscriptionId }: Omit<CreditSchedule, 'dueAt'>,
  nowMs: number,
): Promise<void> {
  return inJobTransaction(epoch, async (db) => {
    const row = await lockSubscription(db, environment, subscriptionId);
    const dueAt = await findCreditSchedule(db, subscriptionId);
    if (!row || !dueAt || dueAt.getTime() > nowMs) return;
    const operationId = 'credits.grantRecurring';
    await grantScheduled({ db, environment, actor: 'clock', operationId, nowMs }, row, dueAt);
  });
}
