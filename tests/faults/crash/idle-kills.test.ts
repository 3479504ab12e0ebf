import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { cutOffLoads, idleKills, TAKEN_UP } from './idle-kills.ts';

it('many kills after the response that met no load have shown nothing; a few may meet none', () => {
  const conclusive = { killsOfControlSide: 100, killsOfControlSideInALoad: 91 };
  expect(idleKills({ ...conclusive, killsOfPostgres: 20, killsOfPostgresInALoad: 0 })).toEqual([
    'none of 20 kills of Postgres cut off the load of a range',
  ]);
  expect(idleKills({ ...conclusive, killsOfPostgres: 20, killsOfPostgresInALoad: 1 })).toEqual([]);
  expect(idleKills({ killsOfControlSide: 19, killsOfPostgres: 5, killsOfSupervisor: 20 })).toEqual([]);
});

it('kills of the data plane must come with a response, and must cut requests off', () => {
  expect(idleKills({ killsOfDataPlane: 2, killsWithResponse: 1, killsOfRequests: 1 })).toEqual([]);
  expect(idleKills({ killsOfDataPlane: 2 })).toEqual([
    'none of 2 kills of the data plane came with a response',
    'none of 2 kills of the data plane cut off a request in flight',
  ]);
});

it('a load that was cut off is counted each time it is taken up; a settlement that was is none', () => {
  const line = (state: string) => `{"level":30,"lo":0,"hi":9,"state":"${state}","msg":"${TAKEN_UP}"}`;
  const lines = [line('pending'), line('loaded'), '{"level":40,"state":"pending","msg":"else"}'];
  expect(cutOffLoads({ written: () => [...lines, line('pending'), ''].join('\n') })).toBe(2);
});

// A line that is searched for and never logged would be missed in the long form alone.
it('the aggregator says so in these words, with the state', () => {
  expect(readFileSync('aggregator/load/load-loop.ts', 'utf8')).toContain(
    `state: range.state }, '${TAKEN_UP}')`,
  );
});
