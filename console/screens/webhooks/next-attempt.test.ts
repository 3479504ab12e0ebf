import { expect, it } from 'vitest';
import { outcomeText } from './attempt-outcome.ts';
import { nextAttempt } from './next-attempt.ts';

const NOW_MS = Date.UTC(2026, 0, 31);
const at = (seconds: number) => new Date(NOW_MS + seconds * 1_000).toISOString();
const pending = (seconds: number) => ({ status: 'pending', nextAttemptAt: at(seconds) });

/** Red when a time that is over is called the next, or when a pause is not named. */
it.each([
  ['that has ended', { status: 'failed' }, undefined, undefined],
  ['that waits', pending(300), undefined, { text: 'Next attempt', at: at(300) }],
  ['that is due', pending(-5), undefined, { text: 'Due now' }],
  ['that was due long ago', pending(-900), undefined, { text: 'Overdue: was due', at: at(-900) }],
  [
    'of a paused endpoint',
    pending(-900),
    { pausedUntil: at(120) },
    { text: 'Paused: one delivery tests the endpoint', at: at(120) },
  ],
  [
    'of an endpoint that is tested',
    pending(-900),
    { pausedUntil: at(-1) },
    { text: 'Paused: one delivery tests the endpoint now' },
  ],
  ['beyond the pause', pending(900), { pausedUntil: at(120) }, { text: 'Next attempt', at: at(900) }],
])('a delivery %s', (_, delivery, failing, expected) => {
  expect(nextAttempt(delivery, failing, NOW_MS)).toEqual(expected);
});

it.each([
  [{ status: 503, error: 'status_not_2xx' }, 'HTTP 503'],
  [{ status: 200, error: 'response_too_large' }, 'HTTP 200: the response is larger than 64 KiB'],
  [{ status: undefined, error: 'connect_timeout' }, 'No connection within 5 s'],
  [{ status: undefined, error: undefined }, 'No response'],
] as const)('%j is told as %s', (ended, expected) => {
  expect(outcomeText(ended)).toBe(expected);
});
