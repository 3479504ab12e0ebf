import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { type JobTurn, type LeasedJob, startLeasedJob } from '../../domain/leased-job.ts';
import { forgetFunnelEvents } from '../store/funnel-events.ts';
import { forgetOldResponses } from '../store/idempotent-responses.ts';
import { forgetProcessorEvents } from '../store/processor-events.ts';
import { forgetReservations } from '../store/reservations.ts';
import { forgetSimulations } from '../store/simulations.ts';

export const OLD_ROWS_SWEEP = { job: 'old-rows-sweep', everyMs: 600_000 };
/** Rows per statement, which takes milliseconds; the next one follows at once while there are more. */
const ROWS_MAX = 1_000;

const KINDS = {
  responses: forgetOldResponses,
  processor: forgetProcessorEvents,
  funnel: forgetFunnelEvents,
  simulations: forgetSimulations,
  reservations: forgetReservations,
};

/**
 * Removes rows that are too old to be of use, beginning at the start: stored responses of POSTs (no sealed
 * row is kept longer than needed), events of the processor that can no longer be sent again, funnel events,
 * simulations, reservations that have ended.
 */
export function startSweep(pool: Pool, log: Logger): LeasedJob {
  async function look({ hold, signal }: JobTurn): Promise<undefined> {
    const failures: unknown[] = [];
    for (const [kind, forget] of Object.entries(KINDS)) {
      try {
        while (!signal.aborted && (await hold()) !== undefined) {
          if ((await forget(pool, ROWS_MAX)) < ROWS_MAX) break;
        }
      } catch (err) {
        log.warn({ err, kind }, 'old rows could not be removed');
        failures.push(err);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  return startLeasedJob({ pool, log }, { ...OLD_ROWS_SWEEP, look });
}
