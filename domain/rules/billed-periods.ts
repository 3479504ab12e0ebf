import type { Span } from '../../schemas/primitives/calendar.ts';
import { type Allowance, allowanceOf, type MeteredTerm, meteredPeriod, termAt } from './metered-terms.ts';

/** A billing period of a customer's meter. */
export interface BilledPeriod extends Span {
  /** In order and without a gap: within each one allowance holds. */
  stretches: BilledStretch[];
  /** Of the features on the meter, as they are at the period's end, or now. */
  limits: readonly string[];
}

export interface BilledStretch extends Span {
  allowance: Allowance;
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
    const period = meteredPeriod(terms, atMs);
    const seenMs = Math.max(period.fromMs, Math.min(nowMs, period.toMs - 1));
    const limits = termAt(terms, seenMs)?.limits ?? [];
    periods.push({ ...period, limits, stretches: stretchesOf(terms, period) });
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

function stretchesOf(terms: readonly MeteredTerm[], period: Span): BilledStretch[] {
  const stretches: BilledStretch[] = [];
  for (const span of cut(
    period,
    terms.map(({ startsMs }) => startsMs),
  )) {
    // mutant: limit-of-now
    const term = termAt(terms, span.fromMs);
    const allowance = term && allowanceOf(term);
    const last = stretches.at(-1);
    if (last && last.allowance === allowance) last.toMs = span.toMs;
    else stretches.push({ ...span, allowance });
  }
  return stretches;
}
