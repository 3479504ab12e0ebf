import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import { runPromise } from '../run-promise.ts';
import { logGivenUp } from './retention-rounds.ts';

const SEED = Date.now() % 1_000_000;

/*
 * What is settled leaves the log, and nothing that was acknowledged is forgotten with it: neither by a killed
 * process nor by one that lost its keys. Red with the mutant keys-of-what-is-left-of-the-log.
 */
it(`the log gives up what is settled, and every replay is known all the same (seed ${SEED})`, async () => {
  const result = await runPromise(logGivenUp, { seed: SEED, rounds: 3, form: 'short' });
  expectKept(result);
  expect(result.counts).toMatchObject({ ends: 1, kills: 1, lossesOfKeys: 2 });
  expect(result.counts.bytesGivenUp).toBeGreaterThan(500_000);
}, 420_000);
