import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { endsLook, type JobTurn } from '../../domain/leased-job.ts';
import { asTransient, isTimeout } from '../../infra/postgres/unavailable.ts';
import type { BackoffQueue } from '../jobs/backoff-queue.ts';
import type { ClockMetrics } from '../metrics.ts';
import {
  type DueSubscription,
  FROM_THE_START,
  findDueEnds,
  findDueRolls,
} from '../store/due-subscriptions.ts';
import { moveSubscription } from './apply-due-change.ts';
import { PROCESSOR_GRACE_MS } from './processor-grace.ts';

export interface DueLook extends JobTurn {
  pool: Pool;
  log: Logger;
  metrics: ClockMetrics;
  /** What took too long. */
  slow: BackoffQueue<DueSubscription>;
  nowMs: () => number;
}

/** Takes far less time than the lease: a few hundred moves per second. */
const CHUNK = 100;
/** Out of the pool's ten connections. */
const AT_ONCE = 4;

/**
 * Passes once over everything due. Each chunk of rolls is preceded by the cancellations and ends of trials
 * that are due by then: their number is limited by what was requested, while periods of a millisecond keep
 * coming due. Subscriptions that took too long are processed last in the next pass, or a pass would not end.
 * Returns false when some are left: another process has the lease, or one subscription could not be moved,
 * which delays no other. Throws Transient while Postgres is unavailable.
 */
export async function moveDue(look: DueLook): Promise<boolean> {
  const { pool, slow, nowMs } = look;
  // Fixed at the start, so that the pass ends: what rolls in it is due again in ten seconds.
  const rollsUntil = new Date(nowMs());
  let isAllDone = true;
  let [lastEnd, lastRoll] = [FROM_THE_START, FROM_THE_START];
  while (!look.signal.aborted) {
    // Between two chunks, when no move is in progress: each move blocks other processes from the lease until
    // it is done.
    const epoch = await look.hold();
    if (epoch === undefined) return false;
    const ends = await findDueEnds(
      pool,
      { now: new Date(nowMs()), graceMs: PROCESSOR_GRACE_MS },
      lastEnd,
      CHUNK,
    );
    const rolls = ends.length > 0 ? [] : await findDueRolls(pool, rollsUntil, lastRoll, CHUNK);
    const late = ends.length + rolls.length === 0 ? slow.take() : undefined;
    const chunk = late ? [late] : [...ends, ...rolls];
    if (chunk.length === 0) return isAllDone;
    const isDone = await moveChunk(look, epoch, chunk);
    if (late && !isDone) return false;
    isAllDone = isAllDone && isDone;
    lastEnd = ends.at(-1) ?? lastEnd;
    lastRoll = rolls.at(-1) ?? lastRoll;
  }
  return isAllDone;
}

/** False when at least one of them could not be moved. */
async function moveChunk(look: DueLook, epoch: number, chunk: DueSubscription[]): Promise<boolean> {
  const { pool, log, metrics, slow, job, nowMs, signal } = look;
  const rest = chunk.values();
  let isAllDone = true;
  let unavailable: unknown;

  async function moveEach(): Promise<void> {
    for (const due of rest) {
      if (signal.aborted || unavailable) return;
      if (slow.has(due)) {
        isAllDone = false;
        continue;
      }
      try {
        if (await moveSubscription({ pool, job, epoch, nowMs: nowMs() }, due)) metrics.moved();
      } catch (err) {
        isAllDone = false;
        metrics.failed();
        if (endsLook(err)) unavailable = asTransient(err);
        else log.error({ err, subscription: due.id }, 'a subscription could not be moved');
        if (isTimeout(err)) slow.add(due);
      }
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, moveEach));
  if (unavailable) throw unavailable;
  return isAllDone;
}
