import { expect, it } from 'vitest';
import { expectKept } from '../expect-kept.ts';
import { runPromise } from '../run-promise.ts';
import { writeErrors } from './write-error-rounds.ts';

const SEED = Date.now() % 1_000_000;

// Promises 6 and 10 in short. Where strace may not attach, `npm test` says so
// (tests/support/machine-requirements.ts).
it('a failing disk ends the data plane, and what was acknowledged is there', async () => {
  const result = await runPromise(writeErrors, { seed: SEED, rounds: 3, form: 'short' });
  expectKept(result);
  expect(result.counts.writeErrors).toBe(3);
});
