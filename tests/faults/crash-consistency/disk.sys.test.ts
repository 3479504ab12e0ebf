import { it } from 'vitest';
import { keptShortForm } from '../short-form.ts';
import { diskFull, diskGuarded } from './disk-rounds.ts';

// Promise 10 in short. Where nothing may be mounted, `npm test` says so
// (tests/support/machine-requirements.ts).
it('a nearly full disk gives 503 for usage, reads go on, and usage resumes when there is room', async () => {
  await keptShortForm(diskGuarded);
});

// Red with the mutant write-error-swallowed. A torn frame that is not cut off does not show here: the next
// one is written over it, and it does harm only where a segment ends with it (writer.test.ts of the log).
it('a disk without a byte left takes nothing acknowledged, and all recovers by itself', async () => {
  await keptShortForm(diskFull);
});
