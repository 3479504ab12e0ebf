import { setTimeout as delay } from 'node:timers/promises';
import { Transient } from '../../schemas/failures.ts';
import type { Clock } from '../ports/clock.ts';

/**
 * Waits for a look-up in Postgres, as long as that makes sense. What comes too late goes on by itself. Throws
 * Transient: when it takes too long, and at once while the one before failed a moment ago or is being tried.
 */
export type CircuitBreaker = <T>(ask: () => Promise<T>) => Promise<T>;

/**
 * A Postgres that hangs answers after 12 s with an error. Without this each batch that names one stranger
 * would wait as long, known customers and all, and its body take up what may be in flight.
 */
const PATIENCE_MS = 2_000;
const RETRY_AFTER_MS = 1_000;

export function createCircuitBreaker(
  clock: Pick<Clock, 'monotonicMs'>,
  patienceMs = PATIENCE_MS,
): CircuitBreaker {
  let failure: Transient | undefined;
  let isTrying = false;
  let retryAtMs = 0;

  function fail(error: unknown): void {
    if (!(error instanceof Transient)) return;
    failure = error;
    retryAtMs = clock.monotonicMs() + RETRY_AFTER_MS;
  }

  return async (ask) => {
    if (failure && (isTrying || clock.monotonicMs() < retryAtMs)) throw failure;
    isTrying = failure !== undefined;
    const isTrial = isTrying;
    try {
      const found = await inTime(ask(), patienceMs);
      failure = undefined;
      return found;
    } catch (error) {
      fail(error);
      throw error;
    } finally {
      if (isTrial) isTrying = false;
    }
  };
}

/** Rejects with Transient `database_slow` when it takes longer; what was begun goes on. */
export async function inTime<T>(begun: Promise<T>, timeoutMs: number): Promise<T> {
  const timer = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Transient('database_slow', 'Postgres does not answer in time.');
  });
  begun.catch(() => undefined); // when it comes too late nobody waits for it any more
  late.catch(() => undefined);
  try {
    return await Promise.race([begun, late]);
  } finally {
    timer.abort();
  }
}
