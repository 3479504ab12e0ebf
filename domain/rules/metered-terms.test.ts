import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { billedPeriods } from './billed-periods.ts';
import {
  allowanceOf,
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
  limits: fc.constantFrom<string[]>([], ['5'], ['5', '70']),
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
        sources.map((source, day) => ({ ...facts(source), startsMs: at(day), limits: [`${day}`] })),
      ).map(({ periodStartMs }) => (periodStartMs - START_MS) / DAY_MS);
    expect(starts(a, a, undefined, a)).toEqual([0, 0, 2, 0]);
    expect(starts(a, b, a)).toEqual([0, 1, 2]);
    expect(starts(a, undefined, b)).toEqual([0, 1, 2]);
    // Its period is recorded again: never with a start before the recorded one.
    expect(starts(a, sourceOf('a', at(1), 5), sourceOf('a', at(-9), 50))).toEqual([0, 1, 1]);
  });
});

it('of several limits the largest counts, and none where one is unlimited', () => {
  expect(allowanceOf({ limits: ['9', '10.5', '10'], isUnlimited: false })).toBe('10.5');
  expect(allowanceOf({ limits: ['9'], isUnlimited: true })).toBeNull();
  expect(allowanceOf({ limits: [], isUnlimited: false })).toBeUndefined();
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
