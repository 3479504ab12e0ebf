import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import { runPromise } from '../run-promise.ts';
import { changesKilled } from './change-rounds.ts';

const SEED = Date.now() % 1_000_000;

/*
 * The short form of promise 20. Seen red with the event written outside the transaction of its change, and
 * with the response of an Idempotency-Key stored outside of it.
 */
it(`no change of the API is half made, gone or made twice, whatever is killed (seed ${SEED})`, async () => {
  const { rounds } = changesKilled;
  const result = await runPromise(changesKilled, { seed: SEED, rounds: rounds.short, form: 'short' });
  expectKept(result);
  expect(result.counts.requestsRepeated).toBeGreaterThan(0);
  expect(result.counts.eventsNotified).toBeGreaterThan(100);
}, 420_000);
