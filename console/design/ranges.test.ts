import { expect, it } from 'vitest';
import { betweenDays, daysOf, lastDays, monthBefore } from './ranges.ts';

const NOW = Date.UTC(2026, 0, 15, 13, 30);

it('is whole days of UTC up to the end of today', () => {
  expect(lastDays(7, NOW)).toEqual({ from: '2026-01-09T00:00:00.000Z', to: '2026-01-16T00:00:00.000Z' });
});

it('is a calendar month, also across the year', () => {
  expect(monthBefore(1, NOW)).toEqual({ from: '2025-12-01T00:00:00.000Z', to: '2026-01-01T00:00:00.000Z' });
});

it('includes the last day, and is nothing when it ends before it begins', () => {
  expect(betweenDays('2026-01-01', '2026-01-01')?.to).toBe('2026-01-02T00:00:00.000Z');
  expect(betweenDays('2026-01-02', '2026-01-01')).toBeUndefined();
  expect(betweenDays('', '2026-01-01')).toBeUndefined();
});

it('has a day for each that a span touches', () => {
  const days = daysOf({ from: '2026-01-01T12:00:00Z', to: '2026-01-03T00:00:01Z' });
  expect(days.map((day) => new Date(day).toISOString().slice(0, 10))).toEqual([
    '2026-01-01',
    '2026-01-02',
    '2026-01-03',
  ]);
});
