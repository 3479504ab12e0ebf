import { expect, it } from 'vitest';
import { ticksOfOthers } from './other-work.ts';

const of = (pid: number, parent: number, ticks: number) => ({ pid, parent, ticks });

it('the work of others is that of all processes which were not started here', () => {
  const before = [of(1, 0, 5), of(10, 1, 100), of(11, 10, 7), of(20, 1, 40), of(21, 1, 900)];
  const after = [of(1, 0, 6), of(10, 1, 300), of(11, 10, 90), of(12, 11, 50), of(20, 1, 45), of(21, 20, 3)];
  // One more of 1, five of 20, and three of a new process with the number of one that ended.
  expect(ticksOfOthers(before, after, 10)).toBe(9);
});
