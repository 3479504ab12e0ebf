import { expect, it } from 'vitest';
import { keptShortForm, SEED } from '../short-form.ts';
import { logGivenUp } from './retention-rounds.ts';

/*
 * What is settled leaves the log, and nothing that was acknowledged is forgotten with it: neither by a killed
 * process nor by one that lost its keys. Red with the mutant keys-of-what-is-left-of-the-log.
 */
it(`the log gives up what is settled, and every replay is known all the same (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(logGivenUp);
  expect(counts).toMatchObject({ ends: 1, kills: 1, lossesOfKeys: 2 });
  expect(counts.bytesGivenUp).toBeGreaterThan(500_000);
}, 420_000);
