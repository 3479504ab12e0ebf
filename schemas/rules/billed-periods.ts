import type { Span } from './calendar.ts';
import {
  type Allowance,
  livedAt,
  meteredAllowance,
  meteredLimits,
  meteredPeriod,
  meters,
} from './metered-period.ts';
import {
  type EntitlementView,
  type HeldSubscription,
  type Holdings,
  resolveEntitlements,
} from './resolve-entitlements.ts';

/** A billing period of a customer's meter. */
export interface BilledPeriod extends Span {
  /**
   * What of it is settled here, in order: a period that begins or ends in the middle of another one shares
   * time with it, and each moment belongs to one of them.
   */
  spans: BilledSpan[];
  /** Of the features on the meter, as they are at its end, or now. */
  limits: string[];
}

/** A stretch of a period in which one allowance holds. */
export interface BilledSpan extends Span {
  allowance: Allowance;
}

/** Which periods: those of the moments from the first to the last. */
export interface BilledQuestion {
  meterKey: string;
  firstMs: number;
  lastMs: number;
  nowMs: number;
}

/** A period may be a millisecond long: more at once are left to the next question. */
const PERIODS_MAX = 64;

/**
 * The periods to which moments belong, with all that is settled in each; and from which moment on more are
 * left.
 *
 * An allowance counts for its whole period, as it is at the period's end, or now while it runs: one that is
 * raised or lowered is so from the start. One that has gone (a subscription was cancelled, is paused or
 * overdue, an override has expired) goes from that moment on: what it covered before stays covered.
 */
export function billedPeriods(
  holdings: Holdings,
  question: BilledQuestion,
): { periods: BilledPeriod[]; restMs: number | undefined } {
  const { meterKey, firstMs, lastMs, nowMs } = question;
  const turns = turnsOf(holdings, meterKey);
  const periodAt = (atMs: number) => meteredPeriod(holdings, { meterKey, atMs, nowMs });
  const touched = new Map<string, Span>();
  let atMs = firstMs;
  for (; atMs <= lastMs && touched.size < PERIODS_MAX; ) {
    const period = periodAt(atMs);
    touched.set(nameOf(period), period);
    atMs = Math.min(period.toMs, turns.find((turn) => turn > atMs) ?? Number.POSITIVE_INFINITY);
  }
  const periods = [...touched.values()].map((period): BilledPeriod => {
    const own = cut(period, turns).filter(({ fromMs }) => nameOf(periodAt(fromMs)) === nameOf(period));
    return { ...period, ...allowed(holdings, own, question) };
  });
  return { periods, restMs: atMs <= lastMs ? atMs : undefined };
}

/** A span in pieces: it is cut at these moments, ascending. */
export function cut({ fromMs, toMs }: Span, moments: readonly number[]): Span[] {
  const bounds = [fromMs, ...moments.filter((ms) => fromMs < ms && ms < toMs), toMs];
  return bounds.slice(1).flatMap((end, at) => {
    const begin = bounds[at] ?? end;
    return begin < end ? [{ fromMs: begin, toMs: end }] : [];
  });
}

function nameOf({ fromMs, toMs }: Span): string {
  return `${fromMs} ${toMs}`;
}

/** Moments at which what a customer holds on the meter becomes another one, by what is known of it now. */
function turnsOf({ subscriptions, overrides, graceMs }: Holdings, meterKey: string): number[] {
  const turns = subscriptions
    .filter((one) => meters(one, meterKey))
    .flatMap((one) => {
      const { status, startsAtMs, canceledAtMs, statusSinceMs } = one;
      const graceEnds = status === 'past_due' ? [statusSinceMs + graceMs] : [];
      const suspended = isSuspended(one) ? [statusSinceMs] : [];
      return [startsAtMs, ...(canceledAtMs === null ? [] : [canceledAtMs]), ...graceEnds, ...suspended];
    });
  const expiries = overrides.flatMap((one) =>
    one.meterKey === meterKey && one.expiresAtMs !== null ? [one.expiresAtMs] : [],
  );
  return [...new Set([...turns, ...expiries])].sort((a, b) => a - b);
}

function isSuspended({ status }: HeldSubscription): boolean {
  return status === 'paused' || status === 'unpaid';
}

function allowed(
  holdings: Holdings,
  own: Span[],
  { meterKey, nowMs }: BilledQuestion,
): Pick<BilledPeriod, 'spans' | 'limits'> {
  const viewIn = ({ fromMs, toMs }: Span) => viewAt(holdings, Math.max(fromMs, Math.min(nowMs, toMs - 1)));
  const whole = { fromMs: own[0]?.fromMs ?? 0, toMs: own.at(-1)?.toMs ?? 0 };
  const view = viewIn(whole);
  const level = meteredAllowance(view, meterKey);
  const spans: BilledSpan[] = [];
  for (const span of own) {
    const allowance = level === undefined ? meteredAllowance(viewIn(span), meterKey) : level;
    const last = spans.at(-1);
    if (last && last.toMs === span.fromMs && last.allowance === allowance) last.toMs = span.toMs;
    else spans.push({ ...span, allowance });
  }
  return { spans, limits: meteredLimits(view, meterKey) };
}

/** What held at a moment: what has ended or is suspended since counted then. */
function viewAt(holdings: Holdings, atMs: number): EntitlementView {
  const subscriptions = holdings.subscriptions.flatMap((one) => {
    if (!livedAt(one, atMs)) return [];
    const stood = one.status === 'canceled' || (isSuspended(one) && atMs < one.statusSinceMs);
    return [stood ? { ...one, status: 'active' as const } : one];
  });
  return resolveEntitlements({ ...holdings, subscriptions }, atMs);
}
