import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { RESETS, type Resets } from '../../schemas/value-sets.ts';
import { periodAt } from './billing-period.ts';
import { type MeteredTerm, meteredPeriod, periodTermAt, termAt } from './metered-terms.ts';

/*
 * The span in which usage counts against a limit: the billing period, or a day, a week or a month of it,
 * counted from the billing anchor. Each ends with its billing period at the latest. One that never resets
 * begins with the subscription; as a span it ends with the billing period, and the next one begins at the
 * same time.
 */

/** The window of a limit that contains this time. */
export function limitWindow(terms: readonly MeteredTerm[], resets: Resets, atMs: number): Span {
  const period = meteredPeriod(terms, atMs);
  if (resets === 'billing_period') return period;
  const term = periodTermAt(terms, atMs);
  if (resets === 'never')
    return { ...period, fromMs: Math.min(period.fromMs, term?.sinceMs ?? period.fromMs) };
  const { fromMs, toMs } = term?.source
    ? periodAt({ anchorMs: term.source.cycle.anchorMs, interval: resets, intervalCount: 1 }, atMs)
    : calendarSpan(resets, atMs);
  return { fromMs: Math.max(fromMs, period.fromMs), toMs: Math.min(toMs, period.toMs) };
}

/** The longest of them, as values of one feature that differ have it; null where none says any. */
export function longestOf(resets: ReadonlyArray<Resets | null>): Resets | null {
  return resets.reduce((a, b) => (rankOf(a) >= rankOf(b) ? a : b), null);
}

function rankOf(resets: Resets | null): number {
  return resets === null ? -1 : RESETS.indexOf(resets);
}

/** How the limits of a billing period last, ascending. */
export function resetsWithin(terms: readonly MeteredTerm[], period: Span): Resets[] {
  const first = termAt(terms, period.fromMs);
  const later = terms.filter(({ startsMs }) => period.fromMs < startsMs && startsMs < period.toMs);
  const limits = [...(first ? [first] : []), ...later].flatMap((term) => term.limits);
  return RESETS.filter((one) => limits.some(({ resets }) => resets === one));
}

/** Whether a limit that never resets holds at this time or later. */
export function hasLastingLimit(terms: readonly MeteredTerm[], fromMs: number): boolean {
  const first = termAt(terms, fromMs);
  const held = [...(first ? [first] : []), ...terms.filter(({ startsMs }) => startsMs > fromMs)];
  return held.some(({ limits }) => limits.some(({ resets }) => resets === 'never'));
}

/**
 * What is settled as one: the longest window of the limits in a billing period, which holds all the others.
 * Weeks are in no month, so with both it is the period.
 */
export function settledWindow(terms: readonly MeteredTerm[], atMs: number): Span {
  const kinds = resetsWithin(terms, meteredPeriod(terms, atMs)).filter((one) => one !== 'never');
  const isMixed = kinds.includes('week') && kinds.includes('month');
  return limitWindow(terms, isMixed ? 'billing_period' : (kinds.at(-1) ?? 'billing_period'), atMs);
}

/** The windows that meet a span, in order: at most so many. */
export function windowsWithin(terms: readonly MeteredTerm[], resets: Resets, { fromMs, toMs }: Span): Span[] {
  const windows: Span[] = [];
  for (let atMs = fromMs; atMs < toMs && windows.length < WINDOWS_MAX; ) {
    const window = limitWindow(terms, resets, atMs);
    windows.push(window);
    atMs = window.toMs;
  }
  return windows;
}

/** Ten years of days: what comes after them counts as one. */
const WINDOWS_MAX = 3_660;
