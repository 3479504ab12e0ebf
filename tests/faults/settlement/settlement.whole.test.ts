import { expect, it } from 'vitest';
import { keptShortForm, SEED } from '../short-form.ts';
import { settlementKilled } from './settlement-rounds.ts';

/*
 * The short form of promise 21. Seen red when a (customer, meter) is settled without the times that were
 * touched, and with thresholds that leave no row.
 */
it(`usage burns credits once and is notified once, whichever process is killed (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(settlementKilled);
  expect(counts['kills of control side']).toBe(3);
  expect(counts.depletions).toBeGreaterThan(0);
});
