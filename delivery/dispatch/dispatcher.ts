import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { poll } from '../../infra/platform/poll.ts';
import { createWakeup, type Wakeup } from '../../infra/platform/wakeup.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { giveBackAll } from '../store/take-due.ts';
import { type AttemptDeps, attemptJob, type Job } from './attempt-job.ts';
import { FAILURES_TO_OPEN } from './circuit.ts';
import type { Verdict } from './delivery-verdict.ts';
import { EndpointQueues, type JobOutcome } from './endpoint-queues.ts';
import { recallJobs } from './recall-jobs.ts';
import { createRecorder } from './recorder.ts';
import { repeat } from './repeat.ts';
import { release, type Taking, takeJobs } from './take-jobs.ts';

/** Sends what is due, until it is closed. */
export interface Dispatcher {
  /** Something may be due. */
  wake(): void;
  /** Takes nothing more. Attempts in flight end within seconds, or are left to their leases. */
  close(): Promise<void>;
}

export interface DispatcherDeps extends AttemptDeps {
  pool: Pool;
  /** Opens what is sealed for the secrets of endpoints. */
  sealingKey: Buffer;
}

export interface DispatcherOptions {
  owner: string;
  /** At most so long between two looks. */
  pollMs: number;
  /** How long a stop waits until what was tried is written down. */
  recordWithinMs: number;
}

const LIMITS = {
  /** Of one endpoint at once, in one process. */
  concurrency: 5,
  failuresMax: FAILURES_TO_OPEN,
  /** A hanging attempt is a socket and some kilobytes. */
  runningMax: 1_000,
  /** Of one that is quick: some tenths of a second of its work, so that it does not wait for a take. */
  heldOfOneMax: 400,
  /** Taken and not yet recorded; an envelope is some kilobytes at most. */
  heldMax: 2_000,
};
/** Beyond it nothing is begun: each would be sent again after a kill. */
const UNRECORDED_MAX = 500;
/** Between two takes, so that each finds some. */
const PAUSE_MS = 5;
const ATTEMPTS_END_WITHIN_MS = 2_000;

export function createDispatcher(
  deps: DispatcherDeps,
  { owner, pollMs, recordWithinMs }: DispatcherOptions,
): Dispatcher {
  const { pool, clock, log, sealingKey } = deps;
  const wakeup = createWakeup();
  const recorder = createRecorder({ ...deps, owner, onRecorded });
  const queues = new EndpointQueues<Job>({
    ...LIMITS,
    run,
    mayBegin: () => recorder.pending() < UNRECORDED_MAX,
    onCapacity: wakeup.wake,
    onShut: (jobs) => void release(taking, jobs),
  });
  const taking = { pool, owner, sealingKey, queues, held: new Set<string>(), heldMax: LIMITS.heldMax };
  const closing = new AbortController();
  let isCutOff = false;

  async function run(job: Job): Promise<JobOutcome> {
    // mutant: delivery-marked-before-sent
    const verdict = await attemptJob(deps, job);
    if (!verdict) taking.held.delete(job.delivery.id);
    else if (!isCutOff) recorder.add(verdict);
    return verdict?.attempt.outcome ?? 'late';
  }

  function onRecorded(verdicts: readonly Verdict[], pausedIds: readonly string[]): void {
    for (const { delivery } of verdicts) {
      taking.held.delete(delivery.id);
      queues.recorded(delivery.endpointId);
    }
    void release(
      taking,
      pausedIds.flatMap((id) => queues.clear(id)),
    );
    queues.go();
  }

  const kept = keepTaking(taking, { clock, wakeup, pollMs, signal: closing.signal, log });
  return {
    wake: wakeup.wake,
    async close() {
      closing.abort();
      await kept;
      await release(taking, queues.close());
      await poll(() => queues.running === 0 || undefined, { timeoutMs: ATTEMPTS_END_WITHIN_MS, everyMs: 10 });
      // What is broken off from now on did not fail by its receiver.
      isCutOff = true;
      await recorder.close(recordWithinMs);
    },
  };
}

interface TakingLoop {
  clock: Clock;
  wakeup: Wakeup;
  pollMs: number;
  signal: AbortSignal;
  log: Logger;
}

/** Takes what is due, and recalls what changed, until the signal aborts. Never rejects. */
async function keepTaking(taking: Taking, { clock, wakeup, pollMs, signal, log }: TakingLoop): Promise<void> {
  const { pool, owner } = taking;
  let isNew = true;

  async function take(): Promise<boolean> {
    // Deliveries that an earlier process of this name had taken are free: its attempts ended with it.
    // mutant: leases-waited-for
    if (isNew) await giveBackAll(pool, owner);
    isNew = false;
    const isMore = await takeJobs(taking, new Date(clock.nowMs()));
    await delay(PAUSE_MS);
    return isMore;
  }

  async function recall(): Promise<boolean> {
    if (await recallJobs(taking)) wakeup.wake();
    return false;
  }

  const keep = (failure: string, act: () => Promise<boolean>, own = createWakeup()) =>
    repeat(act, { failure, everyMs: pollMs, wakeup: own, signal, log });
  await Promise.all([
    keep('due deliveries could not be taken', take, wakeup),
    keep('what was taken could not be recalled', recall),
  ]);
}
