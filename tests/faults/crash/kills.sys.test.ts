import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import { runPromise } from '../run-promise.ts';
import { inALoad } from './idle-kills.ts';
import { everybodyKilled } from './kill-rounds.ts';

const SEED = Date.now() % 1_000_000;

/*
 * The short form of promises 1 to 4, one installation for all. Seen red with each of these mutants: a
 * response before its flush, a range marked loaded before its insert.
 */
it(`every acknowledged event is counted once, whichever process is killed (seed ${SEED})`, async () => {
  const result = await runPromise(everybodyKilled, {
    seed: SEED,
    rounds: everybodyKilled.rounds.short,
    form: 'short',
  });
  expectKept(result);
  expect(result.counts).toMatchObject({
    killsOfDataPlane: 8,
    killsOfControlSide: 5,
    killsOfPostgres: 5,
    killsOfSupervisor: 1,
    killsWithResponse: 6,
    killsOfRequests: 8,
  });
  for (const name of ['concurrentCopies', 'requestsRepeated', 'replaysOfAcknowledged']) {
    expect(result.counts[name], name).toBeGreaterThan(100);
  }
  // A kill that meets no load shows nothing of it. Nine of ten meet one: of five none in 100,000 runs.
  for (const kills of ['killsOfControlSide', 'killsOfPostgres']) {
    expect(result.counts[inALoad(kills)], inALoad(kills)).toBeGreaterThan(0);
  }
});
