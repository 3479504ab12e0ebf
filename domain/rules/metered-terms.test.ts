import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RESETS, type Resets } from '../../schemas/value-sets.ts';
import { billedPeriods } from './billed-periods.ts';
import { limitWindow, resetsWithin, settledWindow } from './limit-windows.ts';
import {
  largestLimit,
  type MeteredFacts,
  type MeteredSource,
  type MeteredTerm,
  meteredPeriod,
  termAfter,
  UNMETERED,
} from './metered-terms.ts';
import { settledPeriods } from './settled-periods.ts';

/*
 * Mutants that turn it red: a period that ends after the start of the next one; a bound that moves backwards;
 * a period that begins again although its subscription continues; a row that adds only the periods of its
 * start.
 */
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 30);
const END_MS = START_MS + 90 * DAY_MS;

const time = fc.oneof(
  fc.integer({ min: START_MS, max: END_MS }),
  fc.integer({ min: 0, max: 90 }).map((day) => START_MS + day * DAY_MS),
);

function sourceOf(subscriptionId: string, fromMs: number, days: number): MeteredSource {
  const cycle = { anchorMs: fromMs, interval: 'day' as const, intervalCount: days };
  return { subscriptionId, period: { fromMs, toMs: fromMs + days * DAY_MS }, cycle };
}

const change = fc.record({
  startsMs: time,
  limits: fc.array(fc.record({ amount: fc.constantFrom('5', '70'), resets: fc.constantFrom(...RESETS) }), {
    maxLength: 2,
  }),
  isUnlimited: fc.boolean(),
  source: fc.option(
    fc
      .record({ id: fc.constantFrom('a', 'b'), fromMs: time, days: fc.integer({ min: 1, max: 20 }) })
      .map(({ id, fromMs, days }) => sourceOf(id, fromMs, days)),
    { nil: undefined },
  ),
});

/** What is recorded late replaces what was recorded from its time on. */
function recorded(changes: ReadonlyArray<MeteredFacts & { startsMs: number }>): MeteredTerm[] {
  let terms: MeteredTerm[] = [];
  for (const { startsMs, ...facts } of changes) {
    const before = terms.filter((term) => term.startsMs < startsMs);
    const term = termAfter(before, facts, startsMs);
    terms = term ? [...before, term] : before;
  }
  return terms;
}

const histories = fc.array(change, { maxLength: 8 }).map(recorded);

describe('the periods of a meter', () => {
  it('are a partition of time: each time is in the period that is found for it, and in no other', () => {
    fc.assert(
      fc.property(histories, time, (terms, atMs) => {
        const period = meteredPeriod(terms, atMs);
        expect(period.fromMs).toBeLessThanOrEqual(atMs);
        expect(period.toMs).toBeGreaterThan(atMs);
        expect(meteredPeriod(terms, period.fromMs)).toEqual(period);
        expect(meteredPeriod(terms, period.toMs - 1)).toEqual(period);
        expect(meteredPeriod(terms, period.toMs).fromMs).toBe(period.toMs);
        expect(meteredPeriod(terms, period.fromMs - 1).toMs).toBe(period.fromMs);
      }),
      { numRuns: 3_000 },
    );
  });

  it('and their stretches follow each other without a gap', () => {
    fc.assert(
      fc.property(histories, (terms) => {
        const { periods } = billedPeriods(terms, { firstMs: START_MS, lastMs: END_MS, nowMs: END_MS });
        const spans = periods.flatMap(({ stretches }) => stretches);
        expect(spans.slice(1).map(({ fromMs }) => fromMs)).toEqual(
          spans.slice(0, -1).map(({ toMs }) => toMs),
        );
        const [first, last] = [periods[0], periods.at(-1)];
        expect([spans[0]?.fromMs, spans.at(-1)?.toMs]).toEqual([first?.fromMs, last?.toMs]);
      }),
    );
  });

  it('up to a change stay as they were', () => {
    fc.assert(
      fc.property(histories, change, (terms, { startsMs, ...facts }) => {
        const before = terms.filter((term) => term.startsMs < startsMs);
        const known = before.findLast((term) => term.source)?.source?.subscriptionId;
        // A subscription that comes back continues the period that was open, as if it had not ended.
        fc.pre(facts.source === undefined || facts.source.subscriptionId !== known);
        const term = termAfter(before, facts, startsMs);
        const after = term ? [...before, term] : before;
        for (const atMs of [Math.min(START_MS, startsMs - 1), startsMs - 1]) {
          const [was, is] = [before, after].map((all) => meteredPeriod(all, atMs));
          expect(is?.fromMs).toBe(was?.fromMs);
        }
      }),
    );
  });

  it('begin with another subscription, and continue where the same one comes back', () => {
    const [a, b] = [sourceOf('a', START_MS, 30), sourceOf('b', START_MS, 30)];
    const facts = (source: MeteredSource | undefined): MeteredFacts => ({ ...UNMETERED, source });
    const at = (days: number) => START_MS + days * DAY_MS;
    const starts = (...sources: Array<MeteredSource | undefined>) =>
      recorded(
        sources.map((source, day) => ({
          ...facts(source),
          startsMs: at(day),
          limits: [{ amount: `${day}`, resets: 'day' as const }],
        })),
      ).map(({ periodStartMs }) => (periodStartMs - START_MS) / DAY_MS);
    expect(starts(a, a, undefined, a)).toEqual([0, 0, 2, 0]);
    expect(starts(a, b, a)).toEqual([0, 1, 2]);
    expect(starts(a, undefined, b)).toEqual([0, 1, 2]);
    // Its period is recorded again: never with a start before the recorded one.
    expect(starts(a, sourceOf('a', at(1), 5), sourceOf('a', at(-9), 50))).toEqual([0, 1, 1]);
  });
});

it('of several limits the largest counts, of equal ones the longest, and none where one is unlimited', () => {
  const limits = ['9', '10.5', '10'].map((amount) => ({ amount, resets: 'month' as const }));
  expect(largestLimit({ limits, isUnlimited: false })).toEqual(limits[1]);
  expect(largestLimit({ limits, isUnlimited: true })).toBeUndefined();
  expect(largestLimit({ limits: [], isUnlimited: false })).toBeUndefined();
  const daily = { amount: '10.5', resets: 'day' as const };
  expect(largestLimit({ limits: [daily, ...limits, daily], isUnlimited: false })).toEqual(limits[1]);
});

describe('the windows of a limit', () => {
  it('are a partition of time, each in its billing period; what is settled as one holds them', () => {
    fc.assert(
      fc.property(histories, time, fc.constantFrom(...RESETS), (terms, atMs, resets) => {
        fc.pre(resets !== 'never');
        const [period, window] = [meteredPeriod(terms, atMs), limitWindow(terms, resets, atMs)];
        expect(period.fromMs <= window.fromMs && window.toMs <= period.toMs).toBe(true);
        expect(window.fromMs <= atMs && atMs < window.toMs).toBe(true);
        expect(limitWindow(terms, resets, window.toMs - 1)).toEqual(window);
        expect(limitWindow(terms, resets, window.toMs).fromMs).toBe(window.toMs);
        const settled = settledWindow(terms, atMs);
        expect(settledWindow(terms, settled.toMs - 1)).toEqual(settled);
        const isInForce = resetsWithin(terms, period).includes(resets);
        if (isInForce) expect(settled.fromMs <= window.fromMs && window.toMs <= settled.toMs).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('are counted from the billing anchor, and without a subscription by the calendar', () => {
    const cycle = { anchorMs: START_MS + 9 * 3_600_000, interval: 'year' as const, intervalCount: 1 };
    const period = { fromMs: cycle.anchorMs, toMs: Date.UTC(2027, 0, 30, 9) };
    const source = { subscriptionId: 'a', cycle, period };
    const terms = recorded([{ ...UNMETERED, source, startsMs: cycle.anchorMs }]);
    const text = (all: readonly MeteredTerm[], resets: Resets, atMs: number) => {
      const { fromMs, toMs } = limitWindow(all, resets, atMs);
      return [fromMs, toMs].map((ms) => new Date(ms).toISOString().slice(0, 13)).join(' ');
    };
    const atMs = Date.UTC(2026, 2, 1, 3);
    expect(text(terms, 'day', atMs)).toBe('2026-02-28T09 2026-03-01T09');
    expect(text(terms, 'week', atMs)).toBe('2026-02-27T09 2026-03-06T09');
    expect(text(terms, 'month', atMs)).toBe('2026-02-28T09 2026-03-30T09');
    expect(text(terms, 'never', atMs)).toBe('2026-01-30T09 2027-01-30T09');
    expect(text([], 'week', atMs)).toBe('2026-03-01T00 2026-03-02T00');
    expect(text([], 'month', atMs)).toBe('2026-03-01T00 2026-04-01T00');
  });

  it('that never reset begin with the subscription, through its periods and a break of it', () => {
    const [a, b] = [sourceOf('a', START_MS, 5), sourceOf('b', START_MS, 5)];
    const since = (...sources: Array<MeteredSource | undefined>) => {
      const terms = recorded(
        sources.map((source, at) => ({ ...UNMETERED, source, startsMs: START_MS + 3 * at * DAY_MS })),
      );
      return (limitWindow(terms, 'never', START_MS + 40 * DAY_MS).fromMs - START_MS) / DAY_MS;
    };
    expect(since(a)).toBe(0);
    expect(since(a, undefined, a)).toBe(0);
    expect(since(a, b)).toBe(3);
    expect(since(a, b, a)).toBe(6);
  });
});

describe('a row that was settled', () => {
  const question = (atMs: number) => ({ firstMs: atMs, lastMs: atMs, nowMs: END_MS });

  it('brings the periods that it reaches into, and theirs', () => {
    const days = (from: number, to: number) => ({
      fromMs: START_MS + from * DAY_MS,
      toMs: START_MS + to * DAY_MS,
      version: 1,
      label: '',
      used: 0n,
      burned: 0n,
    });
    const terms = recorded([{ ...UNMETERED, startsMs: START_MS, source: sourceOf('a', START_MS, 10) }]);
    const settled = (...rows: Array<ReturnType<typeof days>>) =>
      settledPeriods(terms, question(START_MS + 25 * DAY_MS), rows).periods.map(
        ({ fromMs }) => (fromMs - START_MS) / DAY_MS,
      );
    expect(settled()).toEqual([20]);
    expect(settled(days(20, 30))).toEqual([20]);
    expect(settled(days(12, 22))).toEqual([10, 20]);
    expect(settled(days(12, 22), days(5, 15), days(29, 41))).toEqual([0, 10, 20, 30, 40]);
    expect(settled(days(40, 50))).toEqual([20]);
  });

  it('lies within the periods that are settled, of any history', () => {
    const rows = fc.array(
      fc.tuple(time, fc.integer({ min: 1, max: 20 * DAY_MS })).map(([fromMs, ms]) => ({
        fromMs,
        toMs: fromMs + ms,
        version: 1,
        label: '',
        used: 0n,
        burned: 0n,
      })),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(histories, time, rows, (terms, atMs, stored) => {
        const { periods } = settledPeriods(terms, question(atMs), stored);
        periods.slice(1).forEach(({ fromMs }, at) => {
          expect(periods[at]?.toMs).toBeLessThanOrEqual(fromMs);
        });
        for (const row of stored) {
          const inside = periods.filter(({ fromMs, toMs }) => fromMs < row.toMs && row.fromMs < toMs);
          if (inside.length === 0) continue;
          expect(inside[0]?.fromMs).toBeLessThanOrEqual(row.fromMs);
          expect(inside.at(-1)?.toMs).toBeGreaterThanOrEqual(row.toMs);
        }
      }),
    );
  });
});
