import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { billingPeriod } from './billing-period.ts';
import { addMonths, type BillingCycle, cycleOf, cycleThrough, periodAt } from './subscription-period.ts';

/*
 * Breaks that turn it red: months counted from the period before in place of the anchor (28 Mar after 28
 * Feb); the day not cut to the month's end; `<=` and `<` swapped at a boundary.
 */
const EVER = { min: 0, max: Date.UTC(2100, 0, 1) - 1 };
const moment = fc.integer(EVER);
const byMonths = fc.record({
  anchorMs: moment,
  intervalMonths: fc.integer({ min: 1, max: 40 }),
  intervalMs: fc.constant(null),
});
const byLength = fc.record({
  anchorMs: moment,
  intervalMonths: fc.constant(null),
  intervalMs: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 10_000_000_000 })),
});
const cycle: fc.Arbitrary<BillingCycle> = fc.oneof(byMonths, byLength);

describe('a period', () => {
  it('holds its moment, and the next begins where it ends', () => {
    fc.assert(
      fc.property(cycle, moment, (of, atMs) => {
        const period = periodAt(of, atMs);
        expect(period.fromMs).toBeLessThanOrEqual(atMs);
        expect(period.toMs).toBeGreaterThan(atMs);
        expect(periodAt(of, period.fromMs)).toEqual(period);
        expect(periodAt(of, period.toMs - 1)).toEqual(period);
        expect(periodAt(of, period.toMs).fromMs).toBe(period.toMs);
        expect(periodAt(of, period.fromMs - 1).toMs).toBe(period.fromMs);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the same whether it is reached at once or one after the other', () => {
    fc.assert(
      fc.property(cycle, fc.integer({ min: 0, max: 40 }), (of, count) => {
        let period = periodAt(of, of.anchorMs);
        expect(period.fromMs).toBe(of.anchorMs);
        for (let n = 0; n < count; n += 1) period = periodAt(of, period.toMs);
        const { anchorMs, intervalMonths, intervalMs } = of;
        const expected =
          intervalMonths === null
            ? anchorMs + count * Number(intervalMs)
            : naiveMonthsLater(anchorMs, count * intervalMonths);
        expect(period.fromMs).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  it('of the last of January ends with February, and then with the last of March', () => {
    const of = cycleOf(spanOf('2026-01-31T10:30:00.500Z', '2026-02-28T10:30:00.500Z'));
    expect(of).toMatchObject({ intervalMonths: 1, intervalMs: null });
    expect(periodAt(of, Date.parse('2026-03-01T00:00:00.000Z'))).toEqual(
      spanOf('2026-02-28T10:30:00.500Z', '2026-03-31T10:30:00.500Z'),
    );
    expect(periodAt(of, Date.parse('2028-02-29T10:30:00.500Z'))).toEqual(
      spanOf('2028-02-29T10:30:00.500Z', '2028-03-31T10:30:00.500Z'),
    );
  });

  it('without a subscription is the calendar month', () => {
    expect(billingPeriod(Date.parse('2026-02-10T00:00:00.000Z'))).toEqual(
      spanOf('2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'),
    );
    const of = cycleOf(spanOf('2026-01-15T00:00:00.000Z', '2026-02-15T00:00:00.000Z'));
    expect(billingPeriod(Date.parse('2026-03-01T00:00:00.000Z'), of)).toEqual(
      spanOf('2026-02-15T00:00:00.000Z', '2026-03-15T00:00:00.000Z'),
    );
  });
});

describe('a cycle', () => {
  it('begins with the period that it is made of', () => {
    const span = fc.tuple(moment, fc.integer({ min: 1, max: 100_000_000_000 }));
    fc.assert(
      fc.property(span, ([fromMs, length]) => {
        const period = { fromMs, toMs: fromMs + length };
        expect(periodAt(cycleOf(period), fromMs)).toEqual(period);
      }),
    );
  });

  it.each([
    ['2026-01-31', '2026-02-28', 1],
    ['2024-01-30', '2024-02-29', 1],
    ['2024-02-29', '2025-02-28', 12],
    ['2026-05-05', '2026-08-05', 3],
    ['2026-02-28', '2026-03-31', null],
    ['2026-01-01', '2026-01-31', null],
    ['2026-01-31', '2026-03-01', null],
  ])('from %s to %s has %s whole months', (from, to, months) => {
    const { intervalMonths, intervalMs } = cycleOf({ fromMs: Date.parse(from), toMs: Date.parse(to) });
    expect(intervalMonths).toBe(months);
    expect(intervalMs).toBe(months === null ? Date.parse(to) - Date.parse(from) : null);
  });

  it('goes on through each period of its own, and begins anew with any other', () => {
    fc.assert(
      fc.property(cycle, moment, (of, atMs) => {
        const own = periodAt(of, atMs);
        expect(cycleThrough(of, own)).toBe(of);
        const other = { fromMs: own.fromMs, toMs: own.toMs + 1 };
        expect(cycleThrough(of, other)).toEqual(cycleOf(other));
      }),
    );
  });
});

it('a month later is the same day and time, or the last day where there is none', () => {
  fc.assert(
    fc.property(moment, fc.integer({ min: -600, max: 600 }), (atMs, months) => {
      expect(addMonths(atMs, months)).toBe(naiveMonthsLater(atMs, months));
    }),
    { numRuns: 2_000 },
  );
});

/** Day by day backwards from where the calendar overflows to. */
function naiveMonthsLater(atMs: number, months: number): number {
  const at = new Date(atMs);
  const later = new Date(atMs);
  later.setUTCMonth(at.getUTCMonth() + months);
  while (later.getUTCDate() !== at.getUTCDate() && later.getUTCDate() < 5) {
    later.setUTCDate(later.getUTCDate() - 1);
  }
  return later.getTime();
}

function spanOf(from: string, to: string) {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) };
}
