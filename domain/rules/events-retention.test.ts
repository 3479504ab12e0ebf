import { expect, it } from 'vitest';
import { keptMonthsFromMs } from './events-retention.ts';

it('a month is kept until its end is so many days old', () => {
  const kept = (now: string, days: number) => new Date(keptMonthsFromMs(Date.parse(now), days)).toISOString();
  expect(kept('2026-03-02T23:59:59.999Z', 30)).toBe('2026-01-01T00:00:00.000Z');
  expect(kept('2026-03-03T00:00:00.000Z', 30)).toBe('2026-02-01T00:00:00.000Z');
  expect(kept('2026-11-21T12:00:00.000Z', 432)).toBe('2025-09-01T00:00:00.000Z');
});
