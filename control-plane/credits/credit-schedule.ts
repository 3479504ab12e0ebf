import type { Pool } from 'pg';
import type { Logger } from 'pino';
import {
  endsLook,
  inJobTransaction,
  type JobEpoch,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../domain/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { asTransient, isTimeout } from '../../infra/postgres/unavailable.ts';
import { type BackoffQueue, createBackoffQueue } from '../jobs/backoff-queue.ts';
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
/** Failures per pass: so many have one common cause. */
const FAILURES_MAX = 100;

/**
 * Makes the recurring grants that time alone makes due: of a month within a longer period, and of a
 * subscription that begins later than it was created. All others are made with the change that makes them
 * due. One process at a time does it; the next one catches up.
 */
export function startCreditSchedule(
  deps: CreditScheduleDeps,
  options: CreditScheduleOptions = {},
): LeasedJob {
  const { pool, clock } = deps;
  const slow = createBackoffQueue<CreditSchedule>(clock, ({ subscriptionId }) => subscriptionId);

  /** Returns for how long there is nothing to do, at most. */
  async function look(turn: JobTurn): Promise<number | undefined> {
    if (!(await grantDue({ ...deps, ...turn, slow }))) return undefined;
    const nextAt = await nextScheduleAt(pool);
    return nextAt && nextAt.getTime() - clock.nowMs();
  }

  return startLeasedJob(deps, { ...options, job: CREDIT_SCHEDULE, look });
}

interface ScheduleLook extends CreditScheduleDeps, JobTurn {
  /** Subscriptions that took too long. */
  slow: BackoffQueue<CreditSchedule>;
}

/** False when some are left: another process has the lease, or one failed, which delays no other. */
async function grantDue(look: ScheduleLook): Promise<boolean> {
  const { pool, clock, signal, slow, job } = look;
  const failed: CreditSchedule[] = [];
  while (!signal.aborted && failed.length < FAILURES_MAX) {
    const epoch = await look.hold();
    if (epoch === undefined) return false;
    const except = [...failed, ...slow.all()].map(({ subscriptionId }) => subscriptionId);
    const due = await findDueSchedules(pool, new Date(clock.nowMs()), { except, limit: CHUNK });
    const late = due.length === 0 ? slow.take() : undefined;
    const chunk = late ? [late] : due;
    if (chunk.length === 0) break;
    const before = failed.length;
    for (const one of chunk) {
      if (signal.aborted) return false;
      if (!(await isGranted(look, { pool, job, epoch }, one))) failed.push(one);
    }
    if (late && failed.length > before) break;
  }
  return failed.length + slow.all().length === 0;
}

/** False where it failed. Throws Transient when everything else would fail, too. */
async function isGranted(
  { clock, log, slow }: ScheduleLook,
  epoch: JobEpoch,
  due: CreditSchedule,
): Promise<boolean> {
  try {
    await grantDueOf(epoch, due, clock.nowMs());
    return true;
  } catch (err) {
    if (endsLook(err)) throw asTransient(err);
    log.error({ err, subscription: due.subscriptionId }, 'recurring credits could not be granted');
    if (isTimeout(err)) slow.add(due);
    return false;
  }
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
