import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { forgetOldAnswers } from './store/forget-old-answers.ts';

export interface Sweep {
  close(): Promise<void>;
}

const EVERY_MS = 600_000;
/** A statement's worth, milliseconds; the next comes at once while there are so many. */
const ROWS_MAX = 1_000;

/**
 * Removes kept answers of POSTs once they are too old to be replayed, from the start on: nothing sealed is
 * kept longer than needed.
 */
export function startSweep(pool: Pool, log: Logger): Sweep {
  let closed = false;
  let sweeping = sweep();

  async function sweep(): Promise<void> {
    try {
      while (!closed && (await forgetOldAnswers(pool, ROWS_MAX)) === ROWS_MAX);
    } catch (err) {
      log.warn({ err }, 'old idempotent answers could not be removed');
    }
  }

  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep);
  }, EVERY_MS).unref();
  return {
    close: () => {
      closed = true;
      clearInterval(timer);
      return sweeping;
    },
  };
}
