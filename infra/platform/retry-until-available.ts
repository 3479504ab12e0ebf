import pRetry from 'p-retry';
import type { Logger } from 'pino';
import { Transient } from '../../schemas/failures.ts';
import { isUnavailable } from '../postgres/unavailable.ts';

const RETRY_EVERY_MS = 100;
/** No store takes as long to start: from then on the whole error is logged, again and again. */
const LOGGED_EVERY_MS = 10_000;

/**
 * Does something at a start as soon as its stores are available: processes and stores start in any order.
 * Only permanent errors are thrown. It may run more than once.
 */
export function retryUntilAvailable<T>(what: string, act: () => Promise<T>, log: Logger): Promise<T> {
  let notifiedAtMs = performance.now();
  return pRetry(act, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: RETRY_EVERY_MS,
    factor: 1,
    shouldRetry: ({ error }) => error instanceof Transient || isUnavailable(error),
    onFailedAttempt: ({ error, attemptNumber }) => {
      if (attemptNumber === 1) log.info({ reason: error.message || error.name }, `waiting for ${what}`);
      if (performance.now() - notifiedAtMs < LOGGED_EVERY_MS) return;
      notifiedAtMs = performance.now();
      log.warn({ err: error }, `still waiting for ${what}`);
    },
  });
}
