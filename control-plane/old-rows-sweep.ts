import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { forgetOldAnswers } from './store/forget-old-answers.ts';
import { forgetFunnelEvents } from './store/funnel-events.ts';
import { forgetProcessorEvents } from './store/processor-events.ts';

export interface Sweep {
  close(): Promise<void>;
}

const EVERY_MS = 600_000;
/** A statement's worth, milliseconds; the next comes at once while there are so many. */
const ROWS_MAX = 1_000;

const KINDS = { answers: forgetOldAnswers, processor: forgetProcessorEvents, funnel: forgetFunnelEvents };

/**
 * Removes what is too old to be of use, from the start on: kept answers of POSTs (nothing sealed stays longer
 * than needed), events of the processor that can come back no more, funnel events.
 */
export function startSweep(pool: Pool, log: Logger): Sweep {
  let closed = false;
  let sweeping = sweepAll();

  async function sweepAll(): Promise<void> {
    for (const [kind, forget] of Object.entries(KINDS)) await sweep(kind, forget);
  }

  async function sweep(kind: string, forget: typeof forgetOldAnswers): Promise<void> {
    try {
      while (!closed && (await forget(pool, ROWS_MAX)) === ROWS_MAX);
    } catch (err) {
      log.warn({ err, kind }, 'old rows could not be removed');
    }
  }

  const timer = setInterval(() => {
    sweeping = sweeping.then(sweepAll);
  }, EVERY_MS).unref();
  return {
    close: () => {
      closed = true;
      clearInterval(timer);
      return sweeping;
    },
  };
}
