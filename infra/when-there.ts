import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { Transient } from '../schemas/failures.ts';
import { isUnavailable } from './postgres/unavailable.ts';

const RETRY_EVERY_MS = 100;
/** Ten seconds: no store takes as long to start, so from then on the whole error is told, again and again. */
const TOLD_EVERY_ATTEMPTS = 100;

/**
 * Does something at a start as soon as what it needs is there: processes and stores start in any order. Only
 * what time cannot mend is thrown. May be done more than once.
 */
export function whenThere<T>(what: string, act: () => Promise<T>, log: Logger): Promise<T> {
  return pRetry(act, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: RETRY_EVERY_MS,
    factor: 1,
    shouldRetry: ({ error }) => error instanceof Transient || isUnavailable(error),
    onFailedAttempt: ({ error, attemptNumber }) => {
      if (attemptNumber === 1) log.info({ reason: error.message || error.name }, `waiting for ${what}`);
      if (attemptNumber % TOLD_EVERY_ATTEMPTS === 0) log.warn({ err: error }, `still waiting for ${what}`);
    },
  });
}
