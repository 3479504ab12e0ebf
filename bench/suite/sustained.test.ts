import { expect, it } from 'vitest';
import { GOALS, verdict } from './goals.ts';
import { judgedCount, type SustainedFigures } from './sustained.ts';

const FIGURES: SustainedFigures = {
  events: 9_600_000,
  acknowledgedPerSecond: 163_000,
  countedPerSecond: 160_000,
  sentSeconds: 60,
  behindSeconds: 0.8,
  rssPeakMib: {},
};
const goal = GOALS.find(({ id }) => id === 'G13');

function reached(more: Partial<SustainedFigures>): string {
  if (!goal) throw new Error('G13 is no goal');
  return verdict(goal, judgedCount({ ...FIGURES, ...more }));
}

it('a rate of counting stands when all was counted within two seconds of the end', () => {
  expect(reached({})).toBe('floor');
  expect(reached({ countedPerSecond: 210_000 })).toBe('target');
});

// Fault this catches: a rate that was taken and not counted, which leaves a backlog.
it('is not reached where more was left behind', () => {
  expect(reached({ behindSeconds: 3.5 })).toBe('not reached');
});

it('is one of a smaller form where it was not held for a minute', () => {
  expect(reached({ sentSeconds: 10 })).toBe('a smaller form');
});
