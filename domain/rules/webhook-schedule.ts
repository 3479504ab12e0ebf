const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** How long each attempt waits for the end of the one before; the first waits for nothing. 75.5 h in all. */
export const ATTEMPT_DELAYS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

export const ATTEMPTS_MAX = ATTEMPT_DELAYS_MS.length;
/** No attempt is delayed for longer: a receiver may request twice a delay. */
export const ATTEMPT_DELAY_MS_MAX = 2 * Math.max(...ATTEMPT_DELAYS_MS);

/**
 * Deliveries that failed together do not come back together: each delay is up to a fifth shorter or longer.
 */
const JITTER = 0.2;

/** A delivery whose last attempt failed. */
export interface FailedAttempt {
  attemptsMade: number;
  /** When the last attempt ended; milliseconds since 1970. */
  endedAtMs: number;
  /** The delay that the receiver requested (`Retry-After`). */
  retryAfterMs?: number | undefined;
  /** 0 ≤ x < 1. */
  random: () => number;
}

/**
 * When the next attempt is due; undefined when there is none left and the delivery has failed. A receiver may
 * put it off to twice the delay, and never hurries it.
 */
export function nextAttempt({
  attemptsMade,
  endedAtMs,
  retryAfterMs,
  random,
}: FailedAttempt): number | undefined {
  const delayMs = ATTEMPT_DELAYS_MS[attemptsMade];
  if (delayMs === undefined) return undefined;
  if (retryAfterMs !== undefined) return endedAtMs + Math.min(Math.max(retryAfterMs, delayMs), 2 * delayMs);
  return Math.round(endedAtMs + delayMs * (1 - JITTER + 2 * JITTER * random()));
}
