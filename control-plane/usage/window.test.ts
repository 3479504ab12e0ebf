import { expect, test } from 'vitest';
import { breakdownSpan } from './window.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:00.000Z');

test('a window of the calendar is the one that contains the time', () => {
  const november = { fromMs: Date.UTC(2026, 10, 1), toMs: Date.UTC(2026, 11, 1) };
  expect(breakdownSpan({ window: 'month' }, NOW_MS)).toEqual({ window: 'month', span: november });
});

test('the billing period is left to the subscription', () => {
  const period = { window: 'current_period', span: undefined };
  expect(breakdownSpan({}, NOW_MS)).toEqual(period);
  expect(breakdownSpan({ window: 'current_period' }, NOW_MS)).toEqual(period);
  expect(breakdownSpan({ window: 'all' }, NOW_MS)).toEqual({ window: 'all', span: undefined });
});

test('`from` and `to` are sent together, in order, and without a window', () => {
  const [from, to] = ['2026-10-01T00:00:00Z', '2026-10-02T00:00:00Z'];
  const param = (query: Parameters<typeof breakdownSpan>[0]) => {
    try {
      return breakdownSpan(query, NOW_MS).window;
    } catch (error) {
      return (error as { rejection: { param: string } }).rejection.param;
    }
  };
  expect(param({ from, to })).toBe('custom');
  expect(param({ from })).toBe('to');
  expect(param({ to })).toBe('from');
  expect(param({ from: to, to: from })).toBe('to');
  expect(param({ from, to, window: 'day' })).toBe('window');
});
