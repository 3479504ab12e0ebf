import { expect, it } from 'vitest';
import { keptShortForm, SEED } from '../short-form.ts';
import { recurringKilled } from './recurring-rounds.ts';

/* The short form of promise 21 for credits of plans. */
it(`a plan grants each period once, whichever process is killed (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(recurringKilled);
  expect(counts.subscriptions).toBe(48);
});
