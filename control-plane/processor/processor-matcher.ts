import type { Pool } from 'pg';
import type { Logger } from 'pino';
import {
  endsLook,
  inJobTransaction,
  type JobTurn,
  type LeasedJob,
  startLeasedJob,
} from '../../domain/leased-job.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { asTransient } from '../../infra/postgres/unavailable.ts';
import { findMatchable, type MatchableSubscription } from '../store/processor-events.ts';
import { matchSubscription } from './match-subscription.ts';

export interface ProcessorMatcherDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
}

export interface ProcessorMatcherOptions {
  /** The name of this process, unique at any time. */
  owner?: string;
  everyMs?: number;
}

export const PROCESSOR_MATCHER = 'processor-matcher';

export const EVERY_MS = 5_000;
const CHUNK = 100;
const FROM_THE_START: MatchableSubscription = { environment: '', processorSubscriptionId: '' };

/**
 * Applies events that waited for a mapping once the mapping exists. It compares what is missing with what
 * exists, so it does not depend on notifications: a mapping may be created at the same time as an event
 * arrives. A wake-up only makes it sooner.
 */
export function startProcessorMatcher(
  deps: ProcessorMatcherDeps,
  { everyMs = EVERY_MS, ...options }: ProcessorMatcherOptions = {},
): LeasedJob {
  async function look(turn: JobTurn): Promise<undefined> {
    let last = FROM_THE_START;
    while (!turn.signal.aborted) {
      const epoch = await turn.hold();
      if (epoch === undefined) return;
      const chunk = await findMatchable(deps.pool, last, CHUNK);
      for (const one of chunk) await match(deps, { ...turn, epoch }, one);
      last = chunk.at(-1) ?? last;
      if (chunk.length < CHUNK) return;
    }
  }

  return startLeasedJob(deps, { ...options, everyMs, job: PROCESSOR_MATCHER, look });
}

/** One that fails delays no other; it is tried again in the next pass. */
async function match(
  { pool, clock, log }: ProcessorMatcherDeps,
  { job, epoch, signal }: JobTurn & { epoch: number },
  { environment, processorSubscriptionId }: MatchableSubscription,
): Promise<void> {
  if (signal.aborted) return;
  const nowMs = clock.nowMs();
  const context = { environment, actor: 'processor', operationId: 'processor.applyEvent', nowMs };
  try {
    await inJobTransaction({ pool, job, epoch }, (db) =>
      matchSubscription({ ...context, db }, processorSubscriptionId),
    );
  } catch (err) {
    if (endsLook(err)) throw asTransient(err);
    log.error({ err, processorSubscriptionId }, 'events of the processor could not be applied');
  }
}
