import { expect, it } from 'vitest';
import { awaitAttempt } from './await-attempt.ts';

const waiting = { status: 'pending', attemptsMade: 2 } as const;
const failed = { attemptsMade: 3, lastError: 'timeout' } as const;

const FAILED = 'The attempt failed. No response within 15 s: receivers respond before any long work.';

/** Red when an attempt of before is taken for the one that was asked for, or when it is awaited forever. */
it.each([
  ['arrived', { status: 'succeeded', attemptsMade: 3 }, 'The event arrived.'],
  ['failed', { status: 'pending', ...failed }, `${FAILED} Another one follows.`],
  ['failed for good', { status: 'failed', ...failed }, `${FAILED} It was the last.`],
  ['was not made', { status: 'held', attemptsMade: 2 }, 'No attempt was made: the delivery is held.'],
] as const)('an attempt that %s is reported when it was made', async (_, ended, text) => {
  let looks = 0;
  const read = async () => {
    looks += 1;
    return looks < 3 ? waiting : ended;
  };
  expect(await awaitAttempt(waiting, read, { looks: 5, everyMs: 1 })).toBe(text);
  expect(looks).toBe(3);
});

it('an attempt that is not made is awaited for a limited time', async () => {
  const text = await awaitAttempt(waiting, async () => waiting, { looks: 3, everyMs: 1 });
  expect(text).toBe('No attempt was made within 0 s. It is still waiting.');
});
