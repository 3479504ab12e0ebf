import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { INTERVALS, type Interval } from '../../schemas/value-sets.ts';
import {
  addMonths,
  type BillingCycle,
  cycleAfter,
  cycleOf,
  cycleThrough,
  isBoundary,
  isSameCourse,
  later,
  type PeriodLength,
  periodAt,
  type SubscriptionTerm,
  termPeriodAt,
} from './billing-period.ts';
import { walkedBoundaries, walkedPeriod } from './billing-period-oracle.ts';
import { meteredPeriod } from './metered-terms.ts';

/*
 * Against an oracle that walks from day to day and knows no arithmetic of months.
 *
 * Mutants that turn it red: months counted from the period before instead of the anchor (28 Mar after 28
 * Feb); the day not cut to the month's end; `<=` and `<` swapped at a boundary; a week of six days; a period
 * that was extended not followed by one of the usual length; the length guessed from the first period.
 */
const DAY_MS = 86_400_000;
const MONTH: PeriodLength = { interval: 'month', intervalCount: 1 };
const DAYS_WALKED = 2_500;

/** With many at the ends of months, where days are cut. */
const time = fc
  .tuple(fc.integer({ min: 0, max: 130 * 12 }), fc.constantFrom(1, 15, 28, 29, 30, 31), fc.nat(DAY_MS - 1))
  .map(([month, day, ms]) => Date.UTC(1970, month, day) + ms);
const length = fc.record({
  interval: fc.constantFrom(...INTERVALS),
  intervalCount: fc.integer({ min: 1, max: 20 }),
});
const calendar: fc.Arbitrary<BillingCycle> = fc
  .tuple(length, time)
  .map(([every, anchorMs]) => ({ ...every, anchorMs }));
const legacy: fc.Arbitrary<BillingCycle> = fc.record({
  anchorMs: time,
  interval: fc.constant<Interval>('day'),
  intervalCount: fc.constant(1),
  legacyIntervalMs: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 10_000_000_000 })),
});
const cycle = fc.oneof({ weight: 4, arbitrary: calendar }, { weight: 1, arbitrary: legacy });
const days = fc.integer({ min: -DAYS_WALKED, max: DAYS_WALKED });

/** A term whose recorded period ends on its lattice and begins anywhere before that. */
const term: fc.Arbitrary<SubscriptionTerm> = fc
  .tuple(cycle, fc.integer({ min: -30, max: 30 }), fc.integer({ min: 1, max: 500 * DAY_MS }))
  .map(([of, n, lengthMs]) => {
    const toMs = later(of, of.anchorMs, n);
    return { cycle: of, period: { fromMs: toMs - lengthMs, toMs } };
  });

describe('a period of the lattice', () => {
  it('is the one that is found by walking from day to day', () => {
    fc.assert(
      fc.property(calendar, days, fc.nat(DAY_MS - 1), (of, day, ms) => {
        const atMs = of.anchorMs + day * DAY_MS + ms;
        expect(periodAt(of, atMs)).toEqual(walkedPeriod(of, atMs));
      }),
      { numRuns: 1_500 },
    );
  });

  it('contains its time, and the next begins where it ends', () => {
    fc.assert(
      fc.property(cycle, time, (of, atMs) => {
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

  it('of the last of January ends with February, and then with the last of March', () => {
    const of = cycleOf(spanOf('2026-01-31T10:30:00.500Z', '2026-02-28T10:30:00.500Z'), MONTH);
    expect(of).toEqual({ ...MONTH, anchorMs: Date.parse('2026-01-31T10:30:00.500Z') });
    expect(periodAt(of, Date.parse('2026-03-01T00:00:00.000Z'))).toEqual(
      spanOf('2026-02-28T10:30:00.500Z', '2026-03-31T10:30:00.500Z'),
    );
    expect(periodAt(of, Date.parse('2028-02-29T10:30:00.500Z'))).toEqual(
      spanOf('2028-02-29T10:30:00.500Z', '2028-03-31T10:30:00.500Z'),
    );
  });

  it('without a subscription is the calendar month', () => {
    expect(meteredPeriod([], Date.parse('2026-02-10T00:00:00.000Z'))).toEqual(
      spanOf('2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'),
    );
  });
});

describe('a period of a term', () => {
  it('is the recorded one, then those that are walked to from its end, without a gap', () => {
    fc.assert(
      fc.property(term, fc.nat(8), (of, count) => {
        const { fromMs, toMs } = of.period;
        for (const atMs of [fromMs, toMs - 1]) expect(termPeriodAt(of, atMs)).toEqual(of.period);
        let last = of.period;
        for (let n = 0; n < count; n += 1) {
          const next = termPeriodAt(of, last.toMs);
          expect(next.fromMs).toBe(last.toMs);
          if (of.cycle.legacyIntervalMs === undefined) {
            expect(next).toEqual(walkedPeriod(of.cycle, last.toMs));
          }
          expect(termPeriodAt(of, next.toMs - 1)).toEqual(next);
          last = next;
        }
      }),
      { numRuns: 120 },
    );
  });

  it('before the recorded one never reaches into it, so no time has two', () => {
    fc.assert(
      fc.property(term, fc.integer({ min: 1, max: 900 * DAY_MS }), (of, backMs) => {
        const atMs = of.period.fromMs - backMs;
        const { fromMs, toMs } = termPeriodAt(of, atMs);
        expect(fromMs).toBeLessThanOrEqual(atMs);
        expect(toMs).toBeGreaterThan(atMs);
        expect(toMs).toBeLessThanOrEqual(of.period.fromMs);
      }),
      { numRuns: 1_000 },
    );
  });

  it('after a trial of 14 days is a month, counted from its end', () => {
    const trial = termOf('2026-01-17', '2026-01-31');
    expect(chain(trial, 4)).toEqual(['2026-01-17', '2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30']);
  });

  it('after one that was extended by 5 days is a month, counted from the new end', () => {
    const before = termOf('2026-03-10', '2026-04-10');
    const period = dates('2026-03-10', '2026-04-15');
    const extended = { cycle: cycleThrough(before.cycle, period), period };
    expect(chain(extended, 3)).toEqual(['2026-03-10', '2026-04-15', '2026-05-15', '2026-06-15']);
  });

  it.each([
    ['a partial first month', '2026-02-11', '2026-03-01', '2026-04-01'],
    ['an import of one anchored on the 31st, in February', '2026-01-31', '2026-02-28', '2026-03-31'],
    ['the same a month later', '2026-02-28', '2026-03-31', '2026-04-30'],
    ['an import of one anchored on the 30th', '2026-02-28', '2026-03-30', '2026-04-30'],
    ['30 days', '2026-01-01', '2026-01-31', '2026-02-28'],
    ['several months', '2026-01-31', '2026-04-30', '2026-05-30'],
  ])('of %s (%s – %s) continues to %s', (_, from, to, next) => {
    expect(chain(termOf(from, to), 2)[2]).toBe(next);
  });
});

describe('a lattice', () => {
  it('of a first period has its end, and its start where it is one interval long', () => {
    fc.assert(
      fc.property(length, time, fc.integer({ min: 1, max: 100_000_000_000 }), (every, fromMs, ms) => {
        const odd = cycleOf({ fromMs, toMs: fromMs + ms }, every);
        expect(isBoundary(odd, fromMs + ms)).toBe(true);
        expect(odd).toMatchObject(every);
        const whole = { fromMs, toMs: later(every, fromMs, 1) };
        expect(periodAt(cycleOf(whole, every), fromMs)).toEqual(whole);
      }),
    );
  });

  it('continues through each period that ends on it, and starts again with any other', () => {
    fc.assert(
      fc.property(cycle, time, fc.integer({ min: 1, max: 40 * DAY_MS }), (of, atMs, ms) => {
        const own = periodAt(of, atMs);
        expect(cycleThrough(of, own)).toBe(of);
        expect(cycleThrough(of, { fromMs: own.toMs - ms, toMs: own.toMs })).toBe(of);
        const other = { fromMs: own.fromMs, toMs: own.toMs + 1 };
        if (isBoundary(of, other.toMs)) return;
        expect(cycleThrough(of, other)).toEqual(cycleOf(other, of));
        expect(isBoundary(cycleThrough(of, other), other.toMs)).toBe(true);
      }),
    );
  });

  it('of another length begins where the running period ends', () => {
    fc.assert(
      fc.property(term, length, (of, every) => {
        const next = cycleAfter(of, every);
        expect(isBoundary(next, of.period.toMs)).toBe(true);
        expect(next).toEqual({ ...every, anchorMs: next.anchorMs });
        if (every.interval === 'day' || every.interval === 'week') expect(next.anchorMs).toBe(of.period.toMs);
      }),
      { numRuns: 1_000 },
    );
  });

  it('of another number of months keeps the day of the month that the old one was anchored on', () => {
    const monthly = termOf('2026-01-31', '2026-02-28');
    const then = (interval: Interval, intervalCount: number) =>
      chain({ ...monthly, cycle: cycleAfter(monthly, { interval, intervalCount }) }, 3).slice(1);
    expect(then('month', 3)).toEqual(['2026-02-28', '2026-05-31', '2026-08-31']);
    expect(then('year', 1)).toEqual(['2026-02-28', '2027-02-28', '2028-02-29']);
    expect(then('week', 2)).toEqual(['2026-02-28', '2026-03-14', '2026-03-28']);
  });
});

describe('the course of a term', () => {
  it('stays the same as its periods are rolled, however many at once', () => {
    fc.assert(
      fc.property(term, fc.nat(20), (of, count) => {
        let { period } = of;
        for (let n = 0; n < count; n += 1) period = termPeriodAt(of, period.toMs);
        expect(isSameCourse(of, { ...of, period })).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('is another one with another end, start, anchor or length', () => {
    const of = termOf('2026-01-10', '2026-02-10');
    const { cycle: was, period } = of;
    const others: SubscriptionTerm[] = [
      { cycle: was, period: { ...period, toMs: period.toMs + 1 } },
      { cycle: was, period: { ...period, fromMs: period.fromMs + 1 } },
      { cycle: { ...was, anchorMs: was.anchorMs + 1 }, period },
      { cycle: { ...was, intervalCount: 2 }, period },
      { cycle: { ...was, interval: 'year' }, period },
      { cycle: { ...was, legacyIntervalMs: 1 }, period },
    ];
    for (const other of others) expect(isSameCourse(of, other)).toBe(false);
  });
});

it('a month later is the same day and time, or the last day where there is none', () => {
  fc.assert(
    fc.property(time, fc.integer({ min: -80, max: 80 }), (atMs, months) => {
      const walk = walkedBoundaries({ ...MONTH, anchorMs: atMs }, months < 0 ? -1 : 1);
      let walked = atMs;
      for (let n = 0; n < Math.abs(months); n += 1) walked = walk.next().value;
      expect(addMonths(atMs, months)).toBe(walked);
    }),
    { numRuns: 500 },
  );
});

/** A monthly one, whose first period lies between two dates. */
function termOf(from: string, to: string): SubscriptionTerm {
  const period = dates(from, to);
  return { cycle: cycleOf(period, MONTH), period };
}

/** The dates at which its periods begin, and the last of them ends. */
function chain(of: SubscriptionTerm, count: number): string[] {
  const bounds = [of.period.fromMs];
  for (let n = 0; n < count; n += 1) bounds.push(termPeriodAt(of, bounds.at(-1) ?? 0).toMs);
  return bounds.map((ms) => new Date(ms).toISOString().slice(0, 10));
}

function dates(from: string, to: string): Span {
  return spanOf(`${from}T00:00:00.000Z`, `${to}T00:00:00.000Z`);
}

function spanOf(from: string, to: string): Span {
  return { fromMs: Date.parse(from), toMs: Date.parse(to) };
}
