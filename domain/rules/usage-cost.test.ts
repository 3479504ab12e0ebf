import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { billedPeriods } from './billed-periods.ts';
import { addMonths } from './billing-period.ts';
import { labelOfValue, type RateVersion, UNRATED } from './credit-cost.ts';
import { hasLastingLimit } from './limit-windows.ts';
import {
  type MeteredFacts,
  type MeteredTerm,
  meteredPeriod,
  periodTermAt,
  termAfter,
} from './metered-terms.ts';
import { settledPeriods } from './settled-periods.ts';
import { cellsOf, meet, type SettledUsage, touchedBy, type UsageCell } from './usage-cells.ts';
import { type CellUsage, costOfPeriod, type LabelledUsage, rowChanges } from './usage-cost.ts';
import { expectedCost, histories, ratesAt, SPAN, type UsageHistory } from './usage-cost-oracle.ts';

/*
 * What usage costs against a walk over single units: in any order of arrival, with late events, corrections,
 * rates that change, limits that change and are recorded late, and periods that become others.
 *
 * Mutants that turn it red: the limit of now for a late event; `before` left out, so that each stretch has
 * the whole limit; a correction that takes nothing back, or of any label first; usage that exhausts what is
 * left forgotten; rows of a period that was recorded again left where they are; hours read by half.
 */
const HISTORIES = Number(process.env.METERGATE_HISTORIES ?? 400);
const SLOW = { timeout: 600_000 };
const DAY_MS = 86_400_000;

describe('what usage costs', () => {
  it('is in the end what a walk over its units returns, in whatever order they came', SLOW, () => {
    fc.assert(
      fc.property(histories, (history) => {
        const { stored, charged } = settleInRounds(history);
        expect(charged).toBe(expectedOf(history, termsOf(history, history.rounds)));
        expect(sumOf(stored)).toBe(charged);
        expectDisjoint(stored);
      }),
      { numRuns: HISTORIES },
    );
  });

  it('settled at once is what it is settled in four parts', SLOW, () => {
    fc.assert(
      fc.property(histories, (history) => {
        const at = (round: number) => {
          const events = history.events.map((event) => ({ ...event, round }));
          const limits = history.limits.map((limit) => ({ ...limit, round }));
          return settleInRounds({ ...history, events, limits }).charged;
        };
        expect(at(0)).toBe(settleInRounds(history).charged);
      }),
      { numRuns: HISTORIES / 2 },
    );
  });
});

describe('a correction', () => {
  const cell = (limit: string | undefined, rate: string, fromMs = 0): UsageCell => ({
    fromMs,
    toMs: fromMs + 1,
    allowance: limit === undefined ? [] : [{ amount: limit, resets: 'billing_period', fromMs: 0 }],
    source: 'total',
    rated: { version: 1, startMs: 0, burnsFromMs: 0, rates: { rate } },
  });
  const cost = (...cells: Array<[UsageCell, number]>) => {
    const usage = cells.map(([one, units]): CellUsage => ({ cell: one, usage: [plain(units)] }));
    return costOfPeriod(usage).reduce((sum, { burned }) => sum + burned, 0n) / 10n ** 24n;
  };

  it('takes back what the latest usage before it cost, at the rate of that usage', () => {
    expect(cost([cell('100', '1'), 150])).toBe(50n);
    expect(cost([cell('100', '1'), 150], [cell('200', '9', 1), -20])).toBe(30n);
    expect(cost([cell(undefined, '1'), 50], [cell(undefined, '2', 1), -50])).toBe(0n);
    expect(cost([cell(undefined, '1'), 50], [cell(undefined, '2', 1), 50], [cell('0', '5', 2), -70])).toBe(
      30n,
    );
  });

  it('takes back nothing of what was covered, and is not paid for twice', () => {
    const unlimited = { ...cell('0', '1'), allowance: null };
    expect(cost([unlimited, 1000], [cell('100', '1', 1), -500])).toBe(0n);
    expect(cost([cell(undefined, '1'), -50], [cell(undefined, '1', 1), 80])).toBe(30n);
    expect(cost([cell(undefined, '1'), 80], [cell('7', '1', 1), -100], [cell(undefined, '1', 2), 50])).toBe(
      30n,
    );
  });
});

function plain(units: number): LabelledUsage {
  return { label: UNRATED, units: BigInt(units) * 10n ** 12n };
}

interface Rounds {
  stored: SettledUsage[];
  charged: bigint;
}

/**
 * As the settler does: each round settles the times that it touched, and those of terms that it learns of.
 */
function settleInRounds(history: UsageHistory): Rounds {
  let stored: SettledUsage[] = [];
  let charged = 0n;
  for (let round = 0; round < history.rounds; round++) {
    const counted = { ...history, events: history.events.filter((one) => one.round <= round) };
    const terms = termsOf(history, round + 1);
    for (const touched of touchedIn(history, round)) {
      const after = settle(counted, { terms, stored, touched });
      charged += sumOf(after) - sumOf(stored);
      stored = after;
    }
  }
  return { stored, charged };
}

interface Touched {
  firstMs: number;
  lastMs: number;
}

function touchedIn(history: UsageHistory, round: number): Touched[] {
  const times = history.events.filter((one) => one.round === round).map(({ atMs }) => atMs);
  const changes = history.limits.filter((one) => one.round === round).map(({ startMs }) => startMs);
  const earliest = Math.min(...changes);
  const before = termsOf(history, round);
  const after = termsOf(history, round + 1);
  const learned =
    changes.length === 0
      ? []
      : [
          {
            firstMs: Math.min(...[before, after].map((terms) => meteredPeriod(terms, earliest - 1).fromMs)),
            lastMs: SPAN.toMs,
          },
        ];
  return times.length === 0
    ? learned
    : [{ firstMs: Math.min(...times), lastMs: Math.max(...times) }, ...learned];
}

interface Situation {
  terms: MeteredTerm[];
  stored: SettledUsage[];
  touched: Touched;
}

function settle(history: UsageHistory, { terms, stored, touched }: Situation): SettledUsage[] {
  const versions = history.rates.map((one, at) => version(one, at + 1));
  // As the settlement does where a limit never resets.
  const lastMs = hasLastingLimit(terms, touched.firstMs) ? SPAN.toMs : touched.lastMs;
  const { periods } = settledPeriods(terms, { ...touched, lastMs, nowMs: touched.lastMs }, stored);
  let after = stored;
  const mine = stored.filter((row) => periods.some((period) => meet(row, period)));
  const now = periods.flatMap((period) => {
    const near = mine.filter((row) => meet(row, period));
    const first = cellsOf(period, { versions, stored: near }, [touched]);
    const wrong = first.unread.filter((part) => totalOf(history, part) !== part.used);
    const { cells, earlier } = cellsOf(period, { versions, stored: near }, [touched, ...touchedBy(wrong)]);
    const usage = cells.map((cell) => ({ cell, usage: usageOf(history, cell, near) }));
    return costOfPeriod(usage, earlier && { toMs: earlier.toMs, units: totalOf(history, earlier) });
  });
  const { written, removed } = rowChanges(now, mine);
  const names = new Set([...written, ...removed].map(nameOf));
  after = after.filter((row) => !names.has(nameOf(row)));
  return [...after, ...written];
}

function usageOf(history: UsageHistory, cell: UsageCell, stored: readonly SettledUsage[]): LabelledUsage[] {
  if (cell.source === 'total') return [{ label: UNRATED, units: totalOf(history, cell) }];
  if (cell.source === 'stored') {
    return stored
      .filter((row) => row.fromMs === cell.fromMs)
      .map(({ label, used = 0n }) => ({ label, units: used }));
  }
  const units = new Map<string, bigint>();
  for (const { atMs, value, region } of inside(history, cell)) {
    const hasOwn = ratesAt(history, atMs).byRegion && region !== 'ap';
    const label = hasOwn ? labelOfValue(region) : UNRATED;
    units.set(label, (units.get(label) ?? 0n) + BigInt(value) * 10n ** 9n);
  }
  return [...units].map(([label, sum]) => ({ label, units: sum }));
}

function totalOf(history: UsageHistory, span: Span): bigint {
  return inside(history, span).reduce((sum, { value }) => sum + BigInt(value) * 10n ** 9n, 0n);
}

function inside(history: UsageHistory, { fromMs, toMs }: Span) {
  return history.events.filter(({ atMs }) => fromMs <= atMs && atMs < toMs);
}

function version(rates: UsageHistory['rates'][number], number: number): RateVersion {
  const { startMs, rate, byRegion } = rates;
  const own = byRegion && { eu: `${byRegion.eu}`, us: `${byRegion.us}` };
  return {
    version: number,
    startMs,
    burnsFromMs: startMs,
    rates: { rate: `${rate}`, ...(own ? { property: { name: 'region', rates: own } } : {}) },
  };
}

/** As they are recorded before this round. */
function termsOf(history: UsageHistory, round: number): MeteredTerm[] {
  const terms: MeteredTerm[] = [];
  for (const change of history.limits.filter((one) => one.round < round)) {
    const next = termAfter(terms, factsOf(change), change.startMs);
    const others = terms.filter(({ startsMs }) => startsMs < change.startMs);
    if (next) terms.splice(0, terms.length, ...others, next);
  }
  return terms;
}

/** Subscription a has weeks that begin in the middle of days, b months. */
function factsOf({ limits: given, subscription, startMs }: UsageHistory['limits'][number]): MeteredFacts {
  const limits = {
    limits: (given ?? []).map(({ amount, resets }) => ({ amount: thousandths(amount), resets })),
    isUnlimited: given === null,
  };
  if (!subscription) return { ...limits, source: undefined };
  const fromMs = SPAN.fromMs - DAY_MS;
  const isWeekly = subscription === 'a';
  const period = { fromMs, toMs: isWeekly ? fromMs + 7 * DAY_MS : addMonths(fromMs, 1) };
  const interval = isWeekly ? 'week' : 'month';
  const source = {
    subscriptionId: subscription,
    period,
    cycle: { anchorMs: fromMs, interval, intervalCount: 1 },
  };
  return startMs < fromMs
    ? { ...limits, source: undefined }
    : { ...limits, source: source as MeteredFacts['source'] };
}

function thousandths(value: number): string {
  return `${Math.floor(value / 1000)}.${`${value % 1000}`.padStart(3, '0')}`;
}

/** In units of 10^-24, of all periods. The oracle has the limits as they were recorded in the end. */
function expectedOf(history: UsageHistory, terms: MeteredTerm[]): bigint {
  const { periods } = billedPeriods(terms, { firstMs: SPAN.fromMs, lastMs: SPAN.toMs, nowMs: SPAN.toMs });
  const limits = history.limits.filter((change, at) => change.startMs !== history.limits[at + 1]?.startMs);
  const cost = periods.reduce((sum, period) => {
    const term = periodTermAt(terms, period.fromMs);
    const [sinceMs, anchorMs] = [term?.sinceMs ?? period.billing.fromMs, term?.source?.cycle.anchorMs];
    return sum + expectedCost({ ...history, limits }, { ...period, sinceMs, anchorMs });
  }, 0);
  return BigInt(cost) * decimalUnits('1') * 10n ** 9n;
}

function sumOf(stored: readonly SettledUsage[]): bigint {
  return stored.reduce((sum, { burned }) => sum + burned, 0n);
}

function nameOf({ fromMs, label }: SettledUsage): string {
  return `${fromMs} ${label}`;
}

function expectDisjoint(stored: readonly SettledUsage[]): void {
  const spans = new Map(stored.map(({ fromMs, toMs }) => [`${fromMs} ${toMs}`, { fromMs, toMs }]));
  const inOrder = [...spans.values()].sort((a, b) => a.fromMs - b.fromMs);
  const meeting = inOrder.filter(({ toMs }, at) => toMs > (inOrder[at + 1]?.fromMs ?? toMs));
  expect(meeting).toEqual([]);
}
