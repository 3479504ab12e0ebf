import type { Span } from '../../schemas/primitives/calendar.ts';
import type { Resets } from '../../schemas/value-sets.ts';
import { limitWindow, resetsWithin, settledWindow, windowsWithin } from './limit-windows.ts';
import { type MeteredLimit, type MeteredTerm, meteredPeriod, termAt } from './metered-terms.ts';

/** A part of a customer's meter that is settled as one: a billing period, or a window of it. */
export interface BilledPeriod extends Span {
  /** The billing period that it is, or is in. */
  billing: Span;
  /** In order and without a gap: within each one allowance holds. */
  stretches: BilledStretch[];
  /** Those of the limits. */
  windows: LimitedWindow[];
  /** The time before it that counts against a limit that never resets. */
  earlier: Span | undefined;
}

/** A window with the limits that it has at its end, or now. */
export interface LimitedWindow extends Span {
  limits: readonly string[];
}

export interface BilledStretch extends Span {
  allowance: Allowance;
}

/** What covers usage: the limit that has the most left; null: all of it is covered. */
export type Allowance = readonly CoveringLimit[] | null;

export interface CoveringLimit extends MeteredLimit {
  /** Usage from then on counts against it. */
  fromMs: number;
}

/** Which periods: those of the times from the first to the last. */
export interface BilledQuestion {
  firstMs: number;
  lastMs: number;
  nowMs: number;
}

/** A period may be a millisecond long: more at once are left to the next question. */
const PERIODS_MAX = 64;

/**
 * The periods of the given times, each with the limits that held in it; and the time from which on more
 * periods are left.
 */
export function billedPeriods(
  terms: readonly MeteredTerm[],
  { firstMs, lastMs, nowMs }: BilledQuestion,
): { periods: BilledPeriod[]; restMs: number | undefined } {
  const periods: BilledPeriod[] = [];
  let atMs = firstMs;
  while (atMs <= lastMs && periods.length < PERIODS_MAX) {
    const period = billedPeriod(terms, atMs, nowMs);
    periods.push(period);
    atMs = period.toMs;
  }
  return { periods, restMs: atMs <= lastMs ? atMs : undefined };
}

/** A span in pieces: it is cut at these times, ascending. */
export function cut({ fromMs, toMs }: Span, times: readonly number[]): Span[] {
  const bounds = [fromMs, ...times.filter((ms) => fromMs < ms && ms < toMs), toMs];
  return bounds.slice(1).flatMap((end, at) => {
    const begin = bounds[at] ?? end;
    return begin < end ? [{ fromMs: begin, toMs: end }] : [];
  });
}

function billedPeriod(terms: readonly MeteredTerm[], atMs: number, nowMs: number): BilledPeriod {
  const billing = meteredPeriod(terms, atMs);
  const span = settledWindow(terms, atMs);
  const kinds = resetsWithin(terms, billing);
  const windows = kinds.flatMap((resets) => {
    const all = resets === 'never' ? [limitWindow(terms, resets, atMs)] : windowsWithin(terms, resets, span);
    return all.map((window) => ({ ...window, limits: limitsOf(terms, { resets, window, nowMs }) }));
  });
  const { fromMs } = limitWindow(terms, 'never', atMs);
  const isCounted = kinds.includes('never') && fromMs < span.fromMs;
  return {
    ...span,
    billing,
    windows,
    stretches: stretchesOf(terms, span, kinds),
    earlier: isCounted ? { fromMs, toMs: span.fromMs } : undefined,
  };
}

/** At the window's end, or now. */
function limitsOf(
  terms: readonly MeteredTerm[],
  { resets, window, nowMs }: { resets: Resets; window: Span; nowMs: number },
): string[] {
  const seenMs = Math.max(window.fromMs, Math.min(nowMs, window.toMs - 1));
  const limits = termAt(terms, seenMs)?.limits ?? [];
  return limits.filter((one) => one.resets === resets).map(({ amount }) => amount);
}

function stretchesOf(terms: readonly MeteredTerm[], period: Span, kinds: readonly Resets[]): BilledStretch[] {
  const inner = kinds.filter((one) => one !== 'never' && one !== 'billing_period');
  // Usage is counted from the start of each window on.
  const starts = new Set(
    inner.flatMap((one) => windowsWithin(terms, one, period).map(({ fromMs }) => fromMs)),
  );
  const changes = terms.map(({ startsMs }) => startsMs);
  const stretches: BilledStretch[] = [];
  for (const span of cut(
    period,
    [...new Set([...changes, ...starts])].sort((a, b) => a - b),
  )) {
    const allowance = allowanceAt(terms, span.fromMs);
    const last = stretches.at(-1);
    const isSame = last && !starts.has(span.fromMs) && isSameAllowance(last.allowance, allowance);
    if (isSame) last.toMs = span.toMs;
    else stretches.push({ ...span, allowance });
  }
  return stretches;
}

function allowanceAt(terms: readonly MeteredTerm[], atMs: number): Allowance {
  // mutant: limit-of-now
  const term = termAt(terms, atMs);
  if (term?.isUnlimited) return null;
  const limits = term?.limits ?? [];
  return limits.map(({ amount, resets }) => {
    // mutant: limit-counted-from-the-period
    return { amount, resets, fromMs: limitWindow(terms, resets, atMs).fromMs };
  });
}

function isSameAllowance(a: Allowance, b: Allowance): boolean {
  if (a === null || b === null) return a === b;
  const texts = [a, b].map((all) =>
    all.map(({ amount, resets, fromMs }) => `${amount} ${resets} ${fromMs}`).join(),
  );
  return texts[0] === texts[1];
}
