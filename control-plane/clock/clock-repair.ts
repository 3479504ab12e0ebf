import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { inJobTransaction, type JobTurn, type LeasedJob, startLeasedJob } from '../../domain/leased-job.ts';
import { ATTEMPT_DELAY_MS_MAX } from '../../domain/rules/webhook-schedule.ts';
import type { Clock } from '../../infra/ports/clock.ts';
import { bringBack, latestNow, TABLES_WITH_TIMES } from '../store/times-ahead.ts';

export interface ClockRepairDeps {
  pool: Pool;
  clock: Clock;
  log: Logger;
}

export interface ClockRepairOptions {
  owner?: string;
  everyMs?: number;
}

export const CLOCK_REPAIR = { job: 'clock-repair', everyMs: 600_000 };

/** More than the difference of hosts' clocks, the lease of a delivery and the pause of a circuit breaker. */
const AHEAD_MS_MAX = 15 * 60_000;

/**
 * A clock that ran ahead and was corrected leaves times in the future behind, and whatever waits for one of
 * them is stuck until it comes. The repair resets them at the start and every ten minutes. Leases of jobs and
 * partitions are shortened by the processes that request them (domain/store/lease-terms.ts).
 */
export function startClockRepair(deps: ClockRepairDeps, options: ClockRepairOptions = {}): LeasedJob {
  const { pool, clock, log } = deps;

  async function look({ job, hold }: JobTurn): Promise<undefined> {
    for (const table of TABLES_WITH_TIMES) {
      const epoch = await hold();
      if (epoch === undefined) return;
      const now = await latestNow(pool, new Date(clock.nowMs()));
      const nowMs = now.getTime();
      const ahead = {
        now,
        latest: new Date(nowMs + AHEAD_MS_MAX),
        latestAttempt: new Date(nowMs + ATTEMPT_DELAY_MS_MAX + AHEAD_MS_MAX),
      };
      const rows = await inJobTransaction({ pool, job, epoch }, (db) => bringBack(db, table, ahead));
      if (rows > 0)
        log.warn({ table, rows }, 'times in the future, left by a clock that ran ahead, were reset to now');
    }
  }

  return startLeasedJob(deps, { ...CLOCK_REPAIR, ...options, look });
}
