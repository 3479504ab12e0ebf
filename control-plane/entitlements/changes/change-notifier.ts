import type { Pool } from 'pg';
import type { Logger } from 'pino';
import {
  endsLook,
  inJobTransaction,
  type JobEpoch,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../../domain/leased-job.ts';
import type { Clock } from '../../../infra/ports/clock.ts';
import type { Database } from '../../http/request-context.ts';
import { type BackoffQueue, createBackoffQueue } from '../../jobs/backoff-queue.ts';
import type { NotifierMetrics } from '../../metrics.ts';
import { countFanouts, nextFanout, putFanoutLast } from '../../store/fanout-jobs.ts';
import { findTurned, type TurnedCustomer } from '../../store/notified-entitlements.ts';
import { createChunkSize } from './chunk-size.ts';
import { fanOut, type Notified } from './fan-out.ts';
import { notifyDue } from './notify-due.ts';

export interface ChangeNotifierDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
  metrics: NotifierMetrics;
}

export interface ChangeNotifierOptions {
  /** The name of this process, unique at any time. */
  owner?: string;
  leaseMs?: number;
  /** The longest time between two passes; shorter when it is woken. */
  everyMs?: number;
  /** The largest number of customers in one transaction. */
  chunkMax?: number;
}

/** `everyMs`: the fallback poll in case the notification of a job is lost, and how late a time is noticed. */
export const CHANGE_NOTIFIER = { job: 'entitlement-teller', everyMs: 1_000 };

const CHUNK_MAX = 500;

/**
 * Emits `entitlement.changed` where a change touches many customers, or where time has changed a value. One
 * process at a time does it, under a lease, so that no two chunks overlap.
 */
export function startChangeNotifier(
  { pool, clock, log, metrics }: ChangeNotifierDeps,
  { everyMs = CHANGE_NOTIFIER.everyMs, chunkMax = CHUNK_MAX, ...options }: ChangeNotifierOptions = {},
): LeasedJob {
  const chunk = createChunkSize(chunkMax);
  const backoff = createBackoffQueue<TurnedCustomer>(clock, ({ customerId }) => customerId);

  async function look(turn: JobTurn): Promise<undefined> {
    await countWaiting();
    while (!turn.signal.aborted) {
      const epoch = await turn.hold();
      if (epoch === undefined || !(await notifyChunks({ pool, job: turn.job, epoch }))) break;
    }
    await countWaiting();
  }

  async function countWaiting(): Promise<void> {
    const { jobs, oldestAt } = await countFanouts(pool);
    metrics.waiting(jobs, oldestAt);
  }

  /**
   * Alternates between times and changes, so that neither delays the other. False: there is nothing left of
   * either.
   */
  async function notifyChunks(place: JobEpoch): Promise<boolean> {
    const turned = await nextTurned({ pool, clock, backoff }, chunk.size());
    if (turned.length > 0) {
      const notify = (db: Database) => notifyDue(db, turned, clock.nowMs());
      await notifyOne(place, notify, async (err) => backOff({ log, backoff }, turned, err));
    }
    const job = await nextFanout(pool);
    if (!job) return turned.length > 0;
    const size = chunk.size();
    const notify = (db: Database) => fanOut(db, job, { nowMs: clock.nowMs(), chunk: size });
    await notifyOne(place, notify, () => putFanoutLast(pool, job, new Date(clock.nowMs())));
    return true;
  }

  /** A failed chunk is tried again, in smaller chunks and after the other work. */
  async function notifyOne(
    place: JobEpoch,
    notify: (db: Database) => Promise<Notified>,
    onFailure: (err: unknown) => Promise<void>,
  ): Promise<void> {
    const startedAt = clock.monotonicMs();
    try {
      const { customers, events } = await inJobTransaction(place, notify);
      chunk.took(clock.monotonicMs() - startedAt, customers);
      metrics.notified(events);
    } catch (err) {
      chunk.failed();
      metrics.failed();
      await onFailure(err);
      throw err;
    }
  }

  return startLeasedJob({ pool, log }, { ...options, job: CHANGE_NOTIFIER.job, everyMs, look });
}

interface Backoff extends ChangeNotifierDeps {
  backoff: BackoffQueue<TurnedCustomer>;
}

/** The due customers. If there are none, the one that has been in the backoff queue longest. */
async function nextTurned(
  { pool, clock, backoff }: Pick<Backoff, 'pool' | 'clock' | 'backoff'>,
  limit: number,
): Promise<TurnedCustomer[]> {
  const turned = await findTurned(pool, new Date(clock.nowMs()), { except: backoff.all(), limit });
  const late = turned.length === 0 ? backoff.take() : undefined;
  return late ? [late] : turned;
}

/** One customer of a chunk may fail the others: they are tried in smaller chunks first. */
function backOff(
  { log, backoff }: Pick<Backoff, 'log' | 'backoff'>,
  turned: readonly TurnedCustomer[],
  err: unknown,
): void {
  const [only] = turned;
  if (!only || turned.length > 1 || endsLook(err)) return;
  log.error(only, 'a customer could not be notified of a change that became due');
  backoff.add(only);
}
