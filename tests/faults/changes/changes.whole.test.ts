import { expect, it } from 'vitest';
import { keptShortForm, SEED } from '../short-form.ts';
import { changesKilled } from './change-rounds.ts';

/*
 * The short form of promise 20. Seen red with the event written outside the transaction of its change, and
 * with the response of an Idempotency-Key stored outside of it.
 */
it(`no change of the API is half made, gone or made twice, whatever is killed (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(changesKilled);
  expect(counts.requestsRepeated).toBeGreaterThan(0);
  expect(counts.eventsNotified).toBeGreaterThan(100);
}, 420_000);
