import { describe, expect, it } from 'vitest';
import { ATTEMPTS_MAX, nextAttempt } from './webhook-schedule.ts';

/*
 * Mutants that turn it red: the delay of the attempt before; jitter in one direction only; `Retry-After` used
 * unbounded; one attempt more.
 */
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const DELAYS = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];
const endedAtMs = Date.UTC(2026, 0, 1);
const EARLIEST = () => 0;
const LATEST = () => 1 - Number.EPSILON;
const waitMs = (attemptsMade: number, random: () => number, retryAfterMs?: number) =>
  (nextAttempt({ attemptsMade, endedAtMs, random, retryAfterMs }) ?? Number.NaN) - endedAtMs;

describe('the next attempt', () => {
  it.each(DELAYS.map((delayMs, attemptsMade) => [attemptsMade, delayMs]))(
    'after %i of them is due %i ms after the end of the last, a fifth sooner or later',
    (attemptsMade, delayMs) => {
      expect(waitMs(attemptsMade, EARLIEST)).toBe(0.8 * delayMs);
      expect(waitMs(attemptsMade, () => 0.5)).toBe(delayMs);
      expect(waitMs(attemptsMade, LATEST)).toBe(1.2 * delayMs);
    },
  );

  it('is none after ten, which take 75 and a half hours or so', () => {
    expect(ATTEMPTS_MAX).toBe(10);
    for (const made of [10, 11, 1_000]) expect(waitMs(made, EARLIEST)).toBeNaN();
    const all = DELAYS.reduce((sum, delayMs) => sum + delayMs);
    expect(all / HOUR).toBeCloseTo(75.58, 2);
  });

  it('is delayed by Retry-After, to twice the delay at most, and never brought forward', () => {
    for (const random of [EARLIEST, LATEST]) {
      expect(waitMs(2, random, 7 * MINUTE)).toBe(7 * MINUTE);
      expect(waitMs(2, random, 11 * MINUTE)).toBe(10 * MINUTE);
      expect(waitMs(2, random, Number.MAX_SAFE_INTEGER)).toBe(10 * MINUTE);
      expect(waitMs(2, random, 0)).toBe(5 * MINUTE);
    }
    expect(waitMs(10, EARLIEST, SECOND)).toBeNaN();
  });

  it('is spread over all of its bounds', () => {
    const waits = Array.from({ length: 1_000 }, () => waitMs(1, Math.random)).sort((a, b) => a - b);
    expect(waits[0]).toBeGreaterThanOrEqual(4_000);
    expect(waits[0]).toBeLessThan(4_100);
    expect(waits.at(-1)).toBeLessThanOrEqual(6_000);
    expect(waits.at(-1)).toBeGreaterThan(5_900);
  });
});
