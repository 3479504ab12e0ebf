import { describe, expect, it } from 'vitest';
import { GOALS, verdict } from './goals.ts';
import { inTurns, median, paired, steadiness } from './paired.ts';

describe('paired rounds', () => {
  it('judge each round by the controls at its own ends, so that a slow machine is no slow code', () => {
    const speeds = [1, 2, 3, 4];
    const rounds = [0, 1, 2].map((at) => {
      const [before = 0, after = 0] = [speeds[at], speeds[at + 1]];
      return { before, ours: (before + after) / 4, after };
    });
    expect(paired(rounds)).toEqual({
      value: 0.5,
      control: 1,
      noise: 0,
      pairs: [0.5, 0.5, 0.5],
    });
  });

  it('report how far equal runs were apart', () => {
    expect(steadiness([1, 1.1, 1, 1.2, 1])).toEqual({ control: 1.1, noise: 0.1304 });
    expect(steadiness([1, 2, 3, 4])).toEqual({ control: 1, noise: 0 });
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });
});

it('in turns a control ends one round and begins the next', async () => {
  let run = 0;
  const next = async () => run++;
  expect(await inTurns(2, next, next)).toEqual([
    { before: 0, ours: 1, after: 2 },
    { before: 2, ours: 3, after: 4 },
  ]);
});

describe('the verdict on a goal', () => {
  const [g1, , g3] = GOALS;
  it.each([
    [g1, { value: 1.4, control: 1 }, 'stretch'],
    [g1, { value: 1.0, control: 1 }, 'target'],
    [g1, { value: 0.9, control: 1 }, 'floor'],
    [g1, { value: 0.1, control: 1 }, 'below the floor'],
    [g3, { value: 2.4, control: 1 }, 'target'],
    [g3, { value: 9, control: 1 }, 'below the floor'],
    [g1, { value: 1.4, control: 1.06 }, 'void'],
    [g3, { isNotReached: true }, 'not reached'],
    [g1, {}, 'not measured'],
  ])('%#: %o reaches %s', (goal, found, expected) => {
    if (!goal) throw new Error('a goal is missing');
    expect(verdict(goal, { id: goal.id, ...found })).toBe(expected);
  });
});
