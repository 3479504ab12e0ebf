import { expect, it } from 'vitest';
import { idleKills } from './idle-kills.ts';

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
