import { setTimeout as delay } from 'node:timers/promises';
import { Transient } from '../../schemas/failures.ts';
import type { Clock } from '../ports/clock.ts';

/**
 * Waits for a query in Postgres with a time limit. A late result is ignored. Throws Transient: when it takes
 * too long, and at once while the circuit is open, that is for a second after a failure or while one query
 * tries.
 */
export type CircuitBreaker = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * A Postgres that hangs fails a query after 12 s. Without this limit each batch with one unknown name would
 * wait as long, with its known customers, and its body would fill the bound of bytes in flight.
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

  return async (call) => {
    if (failure && (isTrying || clock.monotonicMs() < retryAtMs)) throw failure;
    isTrying = failure !== undefined;
    const isTrial = isTrying;
    try {
      // mutant: lookups-wait
      const found = await inTime(call(), patienceMs);
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

/** Rejects with Transient `database_slow` when it takes longer; the query itself continues. */
export async function inTime<T>(begun: Promise<T>, timeoutMs: number): Promise<T> {
  const timer = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Transient('database_slow', 'Postgres did not respond in time.');
  });
  begun.catch(() => undefined); // when it comes too late no caller waits for it any more
  late.catch(() => undefined);
  try {
    return await Promise.race([begun, late]);
  } finally {
    timer.abort();
  }
}
