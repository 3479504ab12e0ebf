import { expect, it } from 'vitest';
import { awaitAttempt } from './await-attempt.ts';

const waiting = { status: 'pending', attemptsMade: 2 } as const;
const refused = { attemptsMade: 3, lastError: 'timeout' } as const;

/** Red when an attempt of before is taken for the one that was asked for, or when it is awaited forever. */
it.each([
  ['arrived', { status: 'succeeded', attemptsMade: 3 }, 'The event arrived.'],
  [
    'failed',
    { status: 'pending', ...refused },
    'The attempt failed. No whole response within 15 s. Another one follows.',
  ],
  [
    'failed for good',
    { status: 'failed', ...refused },
    'The attempt failed. No whole response within 15 s. It was the last.',
  ],
  ['was not made', { status: 'held', attemptsMade: 2 }, 'No attempt was made: the delivery is held.'],
] as const)('an attempt that %s is told when it was made', async (_, ended, text) => {
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
