import { expect, it } from 'vitest';
import { idleKills } from './idle-kills.ts';

it('many kills behind the answer that met no load have shown nothing; a few may meet none', () => {
  const notifying = { killsOfControlSide: 100, killsOfControlSideInALoad: 91 };
  expect(idleKills({ ...notifying, killsOfPostgres: 20, killsOfPostgresInALoad: 0 })).toEqual([
    'none of 20 kills of Postgres cut off the load of a range',
  ]);
  expect(idleKills({ ...notifying, killsOfPostgres: 20, killsOfPostgresInALoad: 1 })).toEqual([]);
  expect(idleKills({ killsOfControlSide: 19, killsOfPostgres: 5, killsOfSupervisor: 20 })).toEqual([]);
});

it('kills of the data plane are to come with an answer, and to cut requests off', () => {
  expect(idleKills({ killsOfDataPlane: 2, killsWithAnResponse: 1, killsUnderWay: 1 })).toEqual([]);
  expect(idleKills({ killsOfDataPlane: 2 })).toEqual([
    'none of 2 kills of the data plane came with an answer',
    'none of 2 kills of the data plane cut off a request that was under way',
  ]);
});
