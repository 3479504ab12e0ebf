import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CALENDAR_WINDOWS, calendarSpan, HOUR_MS, splitByHours } from './calendar.ts';

// Mutants this suite catches: a week from Sunday; local time in place of UTC; floor and ceil swapped in the
// split.
const time = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) - 1 });

describe('a calendar window', () => {
  it('contains its time, and begins at the end of the one before', () => {
    fc.assert(
      fc.property(time, fc.constantFrom(...CALENDAR_WINDOWS), (atMs, window) => {
        const { fromMs, toMs } = calendarSpan(window, atMs);
        expect(fromMs).toBeLessThanOrEqual(atMs);
        expect(toMs).toBeGreaterThan(atMs);
        expect(calendarSpan(window, toMs).fromMs).toBe(toMs);
        expect(calendarSpan(window, fromMs)).toEqual({ fromMs, toMs });
      }),
    );
  });

  it.each([
    ['day', '2026-02-28T23:59:59.999Z', '2026-02-28', '2026-03-01'],
    ['week', '2026-03-01T12:00:00.000Z', '2026-02-23', '2026-03-02'],
    ['week', '2026-03-02T00:00:00.000Z', '2026-03-02', '2026-03-09'],
    ['month', '2024-02-29T00:00:00.000Z', '2024-02-01', '2024-03-01'],
    ['month', '2026-12-31T23:59:59.999Z', '2026-12-01', '2027-01-01'],
  ] as const)('of a %s at %s is known', (window, at, from, to) => {
    expect(calendarSpan(window, Date.parse(at))).toEqual({ fromMs: Date.parse(from), toMs: Date.parse(to) });
  });
});

describe('a span by hours', () => {
  it('has every millisecond in exactly one part', () => {
    const near = fc.tuple(
      time,
      fc.integer({ min: 0, max: 5 * HOUR_MS }),
      fc.integer({ min: -2, max: 5 * HOUR_MS }),
    );
    fc.assert(
      fc.property(near, ([fromMs, lengthMs, offsetMs]) => {
        const span = { fromMs, toMs: fromMs + lengthMs };
        const atMs = fromMs + offsetMs;
        const { head, hours, tail } = splitByHours(span);
        const parts = [head, hours, tail].filter((part) => part.fromMs <= atMs && atMs < part.toMs);
        expect(parts).toHaveLength(atMs >= span.fromMs && atMs < span.toMs ? 1 : 0);
        expect([hours.fromMs % HOUR_MS, hours.toMs % HOUR_MS]).toEqual([0, 0]);
      }),
    );
  });
});
