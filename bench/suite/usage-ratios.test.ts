import { expect, it } from 'vitest';
import { judgedFreshness } from './usage-ratios.ts';

const FIGURES = {
  offeredPerSecond: 120_000,
  respondedPerSecond: 119_000,
  seconds: 60,
  fromResponseToCountedMs: { p50: 500, p99: 920, max: 1_100, samples: 1_200 },
};

it('the age of the count is its p99 in seconds', () => {
  expect(judgedFreshness(FIGURES)).toEqual({
    id: 'G6/120k',
    value: 0.92,
    note: expect.stringContaining('119000 of 120000 events/s were acknowledged for 60 s, 1200 probes'),
  });
});

// Fault this catches: a count that is fresh since most of what was to be counted never arrived.
it('is not reached at a lower rate', () => {
  expect(judgedFreshness({ ...FIGURES, respondedPerSecond: 110_000 })).toMatchObject({ isNotReached: true });
});
