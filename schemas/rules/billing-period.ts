import { calendarSpan, type Span } from './calendar.ts';
import { type BillingCycle, periodAt } from './subscription-period.ts';

/**
 * The period that counters of a customer are kept by at a moment: that of the subscription, counted as if it
 * had been rolled in time; without one the UTC calendar month.
 */
export function billingPeriod(atMs: number, cycle?: BillingCycle): Span {
  return cycle ? periodAt(cycle, atMs) : calendarSpan('month', atMs);
}
