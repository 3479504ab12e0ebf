import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { Transient } from '../schemas/failures.ts';
import { isUnavailable } from './postgres/unavailable.ts';

const RETRY_EVERY_MS = 100;

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
      if (attemptNumber === 1) log.info({ err: error }, `waiting for ${what}`);
    },
  });
}
