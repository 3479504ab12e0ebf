import type { Logger } from 'pino';
import type { Wakeup } from '../../infra/platform/wakeup.ts';

export interface Repetition {
  /** For the log, of a time that failed: `deliveries could not be made`. */
  failure: string;
  everyMs: number;
  /** Cuts the wait short. */
  wakeup: Wakeup;
  signal: AbortSignal;
  log: Logger;
}

const RETRY_MS = 1_000;

/**
 * Does something until the signal aborts: again at once while it returns that there is more. Never rejects;
 * of failures one after the other the first is logged.
 */
export async function repeat(act: () => Promise<boolean>, repetition: Repetition): Promise<void> {
  const { failure, everyMs, wakeup, signal, log } = repetition;
  signal.addEventListener('abort', wakeup.wake, { once: true });
  let isFailing = false;
  while (!signal.aborted) {
    try {
      const isMore = await act();
      isFailing = false;
      if (!isMore) await wakeup.wait(everyMs);
    } catch (err) {
      if (!isFailing) log.warn({ err }, failure);
      isFailing = true;
      await wakeup.wait(Math.min(everyMs, RETRY_MS));
    }
  }
}
