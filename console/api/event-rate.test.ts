import { expect, it } from 'vitest';
import { type Reading, rateOf, withReading } from './event-rate.ts';

function rateAfter(...readings: Array<[atMs: number, created: number]>): number | undefined {
  const taken = readings.map(([atMs, created]) => ({ atMs, created }));
  return rateOf(taken.reduce<Reading[]>(withReading, []));
}

/** Red when the rate is of the last two readings: one event within 70 ms was 14.7 per second. */
it('is unknown until the readings are 10 s apart', () => {
  expect(rateAfter([0, 0])).toBeUndefined();
  expect(rateAfter([0, 0], [70, 1])).toBeUndefined();
  expect(rateAfter([0, 0], [70, 1], [9_999, 1])).toBeUndefined();
  expect(rateAfter([0, 0], [70, 1], [10_000, 1])).toBe(0.1);
});

it('is of the last 30 s', () => {
  const readings = Array.from({ length: 20 }, (_, at): [number, number] => [
    at * 5_000,
    Math.min(at, 10) * 50,
  ]);
  expect(rateAfter(...readings.slice(0, 10))).toBe(10);
  expect(rateAfter(...readings)).toBe(0);
});

/** Red when what the screen had read on an earlier visit is taken for a reading of now. */
it('does not count a response twice, nor with one that is long ago', () => {
  expect(rateAfter([0, 0], [0, 0])).toBeUndefined();
  expect(rateAfter([0, 0], [600_000, 9_000])).toBeUndefined();
});

it('begins again with a process that started again', () => {
  expect(rateAfter([0, 9_000], [10_000, 10])).toBeUndefined();
  expect(rateAfter([0, 9_000], [10_000, 10], [20_000, 110])).toBe(10);
});
