import { type BillingCycle, termPeriodAt } from '../../domain/rules/billing-period.ts';
import type { PricedTerm } from '../../domain/rules/rating/priced-spans.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { Interval } from '../../schemas/value-sets.ts';
import type { PayingSubscription } from '../store/subscription-terms.ts';

/** What a subscription pays for, in the order of time. */
export function termsOf(row: PayingSubscription): PricedTerm[] {
  const { startsMs, isCharged, planId, planVersion, addons, anchor, ...length } = row;
  if (row.terms.length === 0) {
    const cycle = cycleOf(anchor.getTime(), length);
    return [{ startsMs, isCharged, planId, planVersion, addons, cycle, period: null }];
  }
  return row.terms.map(({ anchorMs, interval, intervalCount, legacyIntervalMs, ...term }) => ({
    ...term,
    cycle: cycleOf(anchorMs, { interval, intervalCount, legacyIntervalMs }),
  }));
}

/** Its billing period that contains a time. */
export function periodOf(row: PayingSubscription, atMs: number): Span {
  const { anchor, currentPeriodStart: start, currentPeriodEnd: end } = row;
  const period = { fromMs: start.getTime(), toMs: end.getTime() };
  return termPeriodAt({ cycle: cycleOf(anchor.getTime(), row), period }, atMs);
}

interface StoredLength {
  interval: Interval;
  intervalCount: number;
  legacyIntervalMs: number | null;
}

function cycleOf(
  anchorMs: number,
  { interval, intervalCount, legacyIntervalMs }: StoredLength,
): BillingCycle {
  const cycle = { anchorMs, interval, intervalCount };
  return legacyIntervalMs === null ? cycle : { ...cycle, legacyIntervalMs };
}
