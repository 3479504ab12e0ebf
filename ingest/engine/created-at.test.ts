import { expect, it } from 'vitest';
import { createStamps } from './created-at.ts';

const DAY_MS = 86_400_000;

function stampsAt(...wallMs: number[]) {
  let at = 0;
  return createStamps({ nowMs: () => wallMs[at++] ?? Number.NaN });
}

it('does not go back with a clock that was set back a little', () => {
  const { createdAtMs } = stampsAt(100_000, 41_000, 100_001);
  expect([createdAtMs(), createdAtMs(), createdAtMs()]).toEqual([100_000, 100_000, 100_001]);
});

// Red when one wrong reading of the clock is kept until the next start: true times would be rejected as too
// old.
it('trusts a clock that was set right again', () => {
  const { createdAtMs } = stampsAt(DAY_MS, 500 * DAY_MS, DAY_MS + 5, DAY_MS + 6);
  expect([createdAtMs(), createdAtMs(), createdAtMs(), createdAtMs()]).toEqual([
    ...[DAY_MS, 500 * DAY_MS],
    ...[DAY_MS + 5, DAY_MS + 6],
  ]);
});

// Red when frames go back as well: an audit would look for the event behind its frame, and delete it.
it('commits no frame before an event was created', () => {
  const { createdAtMs, committedAtMs } = stampsAt(500 * DAY_MS, DAY_MS, DAY_MS + 1, 501 * DAY_MS);
  createdAtMs();
  expect(createdAtMs()).toBe(DAY_MS);
  expect([committedAtMs(), committedAtMs()]).toEqual([500 * DAY_MS, 501 * DAY_MS]);
});
