import { expect, it } from 'vitest';
import { keptShortForm, SEED } from '../short-form.ts';
import { inALoad } from './idle-kills.ts';
import { allKilled } from './kill-rounds.ts';

/*
 * The short form of promises 1 to 4, one installation for all. Seen red with each of these mutants: a
 * response before its flush, a range marked loaded before its insert.
 */
it(`every acknowledged event is counted once, whichever process is killed (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(allKilled);
  expect(counts).toMatchObject({
    killsOfDataPlane: 6,
    killsOfControlSide: 4,
    killsOfPostgres: 4,
    killsOfSupervisor: 1,
    killsWithResponse: 5,
    killsOfRequests: 6,
  });
  for (const name of ['concurrentCopies', 'requestsRepeated', 'replaysOfAcknowledged']) {
    expect(counts[name], name).toBeGreaterThan(100);
  }
  // A kill that meets no load shows nothing of it. Nine of ten meet one: of four none in 10,000 runs.
  for (const kills of ['killsOfControlSide', 'killsOfPostgres']) {
    expect(counts[inALoad(kills)], inALoad(kills)).toBeGreaterThan(0);
  }
});
