import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { createWakeup } from '../infra/platform/wakeup.ts';
import type { Clock } from '../infra/ports/clock.ts';
import { timestampText } from '../schemas/primitives/timestamp.ts';
import { readJobRuns } from './store/job-leases.ts';

/** A leased job, as an operator sees it when it stalls. */
export interface WatchedJob {
  job: string;
  /** At most so long between two of its looks. */
  everyMs: number;
  /** What does not happen without it, in words. */
  stops: string;
}

/** Reports which jobs are stalled, whichever process should do them. */
export interface JobWatch {
  /** In words, for readyz; undefined while all of them proceed. */
  stalled(): string | undefined;
}

export interface JobWatchDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
}

const LOOK_EVERY_MS = 5_000;

/** Looks each five seconds how often each job came to its end. */
export function startJobWatch(
  { pool, clock, log }: JobWatchDeps,
  jobs: readonly WatchedJob[],
): JobWatch & { close(): Promise<void> } {
  const closing = createWakeup();
  const watch = createJobWatch({ clock, log }, jobs);
  let isClosing = false;

  async function keepLooking(): Promise<void> {
    while (!isClosing) {
      await readJobRuns(pool).then(watch.saw, (err: unknown) =>
        log.debug({ err }, 'cannot read how jobs proceed'),
      );
      await closing.wait(LOOK_EVERY_MS);
    }
  }

  const looking = keepLooking();
  return {
    stalled: watch.stalled,
    async close() {
      isClosing = true;
      closing.wake();
      await looking;
    },
  };
}

/** So many looks of its own may a job miss. */
const LOOKS_MISSED_MAX = 5;
/** Longer than a lease that has to expire first, and than a short outage of a store. */
const STALLED_MS_MIN = 60_000;

/**
 * Judges by a monotonic clock: a job that stalls because of wall clocks is reported too. While Postgres is
 * unavailable nothing is known, and readyz names Postgres.
 */
export function createJobWatch(
  { clock, log }: Omit<JobWatchDeps, 'pool'>,
  jobs: readonly WatchedJob[],
): JobWatch & { saw(runs: ReadonlyMap<string, number>): void } {
  const startedAtMs = clock.monotonicMs();
  const seen = new Map<string, { runs: number; sinceMs: number }>();
  const notified = new Set<string>();
  let knownAtMs = startedAtMs;

  /** 0 while it proceeds, as far as is known. */
  function stalledMs({ job, everyMs }: WatchedJob): number {
    const forMs = knownAtMs - (seen.get(job)?.sinceMs ?? startedAtMs);
    return forMs > Math.max(STALLED_MS_MIN, LOOKS_MISSED_MAX * everyMs) ? forMs : 0;
  }

  function notify(one: WatchedJob): void {
    const forMs = stalledMs(one);
    if (forMs > 0 && !notified.has(one.job)) log.error({ job: one.job, forMs }, 'a job is stalled');
    if (forMs > 0) notified.add(one.job);
    else notified.delete(one.job);
  }

  function sentenceOf(one: WatchedJob): string[] {
    const forMs = stalledMs(one);
    if (forMs === 0) return [];
    const since = timestampText(clock.nowMs() - Math.round(forMs));
    return [
      `the job ${one.job} has made no progress since ${since}: ${one.stops}. The log of a control plane ` +
        'says why ("a job could not be done"); if none does, restart the control planes',
    ];
  }

  return {
    stalled: () => jobs.flatMap(sentenceOf).join('; ') || undefined,
    saw(runs) {
      knownAtMs = clock.monotonicMs();
      for (const [job, now] of runs) {
        const last = seen.get(job);
        // The first number proves nothing: it may be as old as the last start.
        if (last?.runs !== now) seen.set(job, { runs: now, sinceMs: last ? knownAtMs : startedAtMs });
      }
      jobs.forEach(notify);
    },
  };
}
