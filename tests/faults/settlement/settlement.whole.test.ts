import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import { runPromise } from '../run-promise.ts';
import { settlementKilled } from './settlement-rounds.ts';

const SEED = Date.now() % 1_000_000;

/*
 * The short form of promise 21. Seen red with pairs that are settled without the times that were touched, and
 * with thresholds that leave no row.
 */
it(`usage burns credits once and is notified once, whichever process is killed (seed ${SEED})`, async () => {
  const { rounds } = settlementKilled;
  const result = await runPromise(settlementKilled, { seed: SEED, rounds: rounds.short, form: 'short' });
  expectKept(result);
  expect(result.counts['kills of control side']).toBe(3);
  expect(result.counts.depletions).toBeGreaterThan(0);
});
