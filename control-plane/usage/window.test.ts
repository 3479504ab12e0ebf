import { expect, test } from 'vitest';
import { breakdownSpan } from './window.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:00.000Z');

// Red when `at` is read for counters only: a bill of October would be broken down by November's events.
test('a window is the one that held at the moment asked for, else the running one', () => {
  const october = { fromMs: Date.UTC(2026, 9, 1), toMs: Date.UTC(2026, 10, 1) };
  const november = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 11, 1) };
  const at = '2026-10-15T00:00:00Z';
  expect(breakdownSpan({ at }, NOW_MS)).toEqual({ window: 'current_period', span: october });
  expect(breakdownSpan({ at, window: 'month' }, NOW_MS)).toEqual({ window: 'month', span: october });
  expect(breakdownSpan({}, NOW_MS)).toEqual({ window: 'current_period', span: november });
});

test('`from` and `to` go together, in order, and without a window', () => {
  const [from, to] = ['2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z'];
  const param = (query: Parameters<typeof breakdownSpan>[0]) => {
    try {
      return breakdownSpan(query, NOW_MS).window;
    } catch (error) {
      return (error as { refusal: { param: string } }).refusal.param;
    }
  };
  expect(param({ from, to })).toBe('custom');
  expect(param({ from })).toBe('to');
  expect(param({ to })).toBe('from');
  expect(param({ from: to, to: from })).toBe('to');
  expect(param({ from, to, window: 'day' })).toBe('window');
});
