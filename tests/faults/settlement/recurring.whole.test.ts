import { expect, it } from 'vitest';
import { keptShortForm, SEED } from '../short-form.ts';
import { recurringKilled } from './recurring-rounds.ts';

/*
 * The short form of promise 21 for credits of plans. Seen red when a grant is made outside the transaction of
 * its period, and without the unique key of a period.
 */
it(`a plan grants each period once, whichever process is killed (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(recurringKilled);
  expect(counts.subscriptions).toBe(48);
});
