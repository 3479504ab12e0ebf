import { expect, it } from 'vitest';
import { runPromise } from '../run-promise.ts';
import { diskFull, diskGuarded } from './disk-rounds.ts';
import { mayMount } from './small-disk.ts';
import { hasStrace } from './system-calls.ts';
import { writeErrors } from './write-error-rounds.ts';

const SEED = Date.now() % 1_000_000;

// Promise 10 in short. Where nothing may be mounted, or strace is missing, `npm test` says so.
if (await mayMount()) {
  it('a nearly full disk is answered with 503, reads go on, and usage does when there is room', async () => {
    const result = await runPromise(diskGuarded, { seed: SEED, rounds: 1, form: 'short' });
    expect(result).toMatchObject({ problems: [], outcome: 'kept' });
  });

  // Breaks: a write error swallowed; a torn frame not cut off.
  it('a disk without a byte left takes nothing acknowledged, and all recovers by itself', async () => {
    const result = await runPromise(diskFull, { seed: SEED, rounds: 1, form: 'short' });
    expect(result).toMatchObject({ problems: [], outcome: 'kept' });
  });
}

if (hasStrace()) {
  it('a failing disk ends the data plane, and what was acknowledged is there', async () => {
    const result = await runPromise(writeErrors, { seed: SEED, rounds: 2, form: 'short' });
    expect(result).toMatchObject({ problems: [], outcome: 'kept' });
  });
}
