import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Transient } from '../schemas/failures.ts';
import { isUnavailable } from './postgres/unavailable.ts';

const RETRY_EVERY_MS = 100;

/**
 * Does something at a start as soon as what it needs is there. Processes and stores start in any order and come
 * back in any order; only what time cannot mend is thrown. May be done more than once.
 */
export async function whenThere<T>(what: string, act: () => Promise<T>, log: Logger): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof Transient || isUnavailable(error))) throw error;
      if (attempt === 1) log.info({ err: error }, `waiting for ${what}`);
      await delay(RETRY_EVERY_MS);
    }
  }
}
