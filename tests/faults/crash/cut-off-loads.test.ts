import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cutOffLoads, TAKEN_UP } from './cut-off-loads.ts';

it('a load that was cut off is counted each time it is taken up; a settlement that was is none', () => {
  const line = (state: string) => `{"level":30,"lo":0,"hi":9,"state":"${state}","msg":"${TAKEN_UP}"}`;
  const lines = [line('pending'), line('loaded'), '{"level":40,"state":"pending","msg":"else"}'];
  expect(cutOffLoads({ written: () => [...lines, line('pending'), ''].join('\n') })).toBe(2);
});

// What is looked for and never said would be missed in the long form alone.
it('the aggregator says so in these words, with the state', () => {
  expect(readFileSync('aggregator/load/load-loop.ts', 'utf8')).toContain(
    `state: range.state }, '${TAKEN_UP}')`,
  );
});
