import { expect, it } from 'vitest';
import { keptShortForm, SEED } from '../short-form.ts';
import { holdsKilled } from './hold-rounds.ts';

/*
 * The short form of promise 24. Seen red with the response of an Idempotency-Key that is not stored.
 */
it(`no reservation is lost, made twice or beyond the limit, whatever is killed (seed ${SEED})`, async () => {
  const { counts } = await keptShortForm(holdsKilled);
  expect(counts.repeated).toBeGreaterThan(0);
  expect(counts.denied).toBeGreaterThan(0);
}, 300_000);
