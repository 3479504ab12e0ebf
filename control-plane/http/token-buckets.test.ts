import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createTokenBuckets } from './token-buckets.ts';

/*
 * Mutants this suite catches: a rejected request takes a part of a token; the bucket fills beyond its burst;
 * the rest of a token is dropped on a read; keys share a bucket; the newest key is evicted first.
 */
function bucketsAt(perSecond: number, burst: number, keysMax?: number) {
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  return { clock, buckets: createTokenBuckets({ perSecond, burst }, clock, keysMax) };
}

it('a key gets its burst at once, then requests at the rate, and so do other keys', () => {
  const { clock, buckets } = bucketsAt(2, 3);
  const requested = (key: string) => buckets.take(key);
  expect([requested('a'), requested('a'), requested('a'), requested('a')]).toEqual([0, 0, 0, 500]);
  expect(requested('b')).toBe(0);
  clock.nowMs = 400;
  expect(requested('a')).toBeCloseTo(100);
  clock.nowMs = 501;
  expect([requested('a'), requested('a') > 0]).toEqual([0, true]);
  clock.nowMs = 3_600_000;
  expect([requested('a'), requested('a'), requested('a'), requested('a')]).toEqual([0, 0, 0, 500]);
});

// Mutants it catches: a debt without a bound; a charge that takes nothing.
it('a key waits for what it is charged with, and no longer than for an empty bucket', () => {
  const { clock, buckets } = bucketsAt(2, 3);
  buckets.charge('a', 5);
  expect(buckets.take('a')).toBe(1_500);
  buckets.charge('a', 1_000_000);
  expect(buckets.take('a')).toBe(2_000);
  expect(buckets.take('b')).toBe(0);
  clock.nowMs = 2_000;
  expect(buckets.take('a')).toBe(0);
});

it('in any span burst and rate bound what is taken, and a caller that waits is served', () => {
  const span = fc.record({
    perSecond: fc.integer({ min: 1, max: 50 }),
    burst: fc.integer({ min: 1, max: 20 }),
    gapsMs: fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 200 }),
  });
  fc.assert(
    fc.property(span, ({ perSecond, burst, gapsMs }) => {
      const { clock, buckets } = bucketsAt(perSecond, burst);
      const takenAt: number[] = [];
      for (const gapMs of gapsMs) {
        clock.nowMs += gapMs;
        const waitMs = buckets.take('k');
        if (waitMs > 0) {
          clock.nowMs += Math.ceil(waitMs);
          expect(buckets.take('k')).toBe(0);
        }
        takenAt.push(clock.nowMs);
      }
      for (const [first, fromMs] of takenAt.entries()) {
        const last = takenAt.length - 1;
        const allowed = burst + (((takenAt[last] ?? 0) - fromMs) / 1000) * perSecond;
        expect(last - first + 1).toBeLessThanOrEqual(allowed + 1e-6);
      }
    }),
    { numRuns: 300 },
  );
});

it('beyond its bound the least recently used key is forgotten, and no other', () => {
  const { buckets } = bucketsAt(0.001, 1, 3);
  for (const key of ['a', 'b', 'c', 'a', 'd']) buckets.take(key);
  expect(buckets.take('b')).toBe(0);
  expect([buckets.take('a') > 0, buckets.take('d') > 0]).toEqual([true, true]);
});

it('the state of a key is how many requests are left, and when it has all of them again', () => {
  const { clock, buckets } = bucketsAt(2, 3);
  expect(buckets.state('a')).toEqual({ tokens: 3, fullInMs: 0 });
  buckets.take('a');
  expect(buckets.state('a')).toEqual({ tokens: 2, fullInMs: 500 });
  clock.nowMs = 250;
  expect(buckets.state('a')).toEqual({ tokens: 2, fullInMs: 250 });
  buckets.charge('a', 5);
  expect(buckets.state('a')).toMatchObject({ tokens: 0 });
});
