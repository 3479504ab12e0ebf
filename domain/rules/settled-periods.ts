import type { Span } from '../../schemas/primitives/calendar.ts';
import { type BilledPeriod, type BilledQuestion, billedPeriods } from './billed-periods.ts';
import type { MeteredTerm } from './metered-terms.ts';
import { meet, type SettledUsage } from './usage-cells.ts';

/** What is settled at once. */
export interface SettledPeriods {
  periods: BilledPeriod[];
  /** Times from here on are left to the next settlement. */
  restMs: number | undefined;
}

/** For example a row of a month next to periods of a millisecond. */
const NEIGHBOURS_MAX = 1_000;

/**
 * The periods of these times, and those into which stored rows extend: a period that was recorded again has
 * other bounds than its rows. So each row lies within the periods that are settled, and can be replaced.
 * `stored` are the rows that intersect {@link hullOf} the result; when the result grows, call again with
 * more.
 */
export function settledPeriods(
  terms: readonly MeteredTerm[],
  question: BilledQuestion,
  stored: readonly SettledUsage[],
): SettledPeriods {
  const { periods, restMs } = billedPeriods(terms, question);
  for (let outer = outside(periods, stored); outer; outer = outside(periods, stored)) {
    const { fromMs, toMs } = outer;
    const more = billedPeriods(terms, { ...question, firstMs: fromMs, lastMs: toMs - 1 });
    const known = new Set(periods.map((period) => period.fromMs));
    const added = more.periods.filter((period) => !known.has(period.fromMs));
    periods.push(...added);
    if (added.length === 0 || more.restMs !== undefined || periods.length > NEIGHBOURS_MAX) break;
  }
  return { periods: periods.sort((a, b) => a.fromMs - b.fromMs), restMs };
}

/** From the first period's start to the last one's end. */
export function hullOf(periods: readonly Span[]): Span {
  return {
    fromMs: Math.min(...periods.map(({ fromMs }) => fromMs)),
    toMs: Math.max(...periods.map(({ toMs }) => toMs)),
  };
}

/** The first row that no chain of these periods covers from its start to its end. */
function outside(periods: readonly Span[], stored: readonly Span[]): Span | undefined {
  return stored.find((row) => {
    const inside = periods.filter((period) => meet(period, row));
    if (inside.length === 0) return false;
    const covered = inside.reduce(
      (sum, { fromMs, toMs }) => sum + Math.min(toMs, row.toMs) - Math.max(fromMs, row.fromMs),
      0,
    );
    return covered < row.toMs - row.fromMs;
  });
}
