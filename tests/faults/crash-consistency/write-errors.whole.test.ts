import { expect, it } from 'vitest';
import { keptShortForm } from '../short-form.ts';
import { writeErrors } from './write-error-rounds.ts';

// Promises 6 and 10 in short. Where strace may not attach, `npm test` says so
// (tests/support/machine-requirements.ts).
it('a failing disk ends the data plane, and what was acknowledged is there', async () => {
  const { counts } = await keptShortForm(writeErrors);
  expect(counts.writeErrors).toBe(3);
});
