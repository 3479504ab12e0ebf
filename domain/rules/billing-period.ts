import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { type SubscriptionTerm, termPeriodAt } from './subscription-period.ts';

/**
 * The period that counters of a customer are kept by at a moment: that of the subscription, counted as if it
 * had been rolled in time; without one the UTC calendar month.
 */
export function billingPeriod(atMs: number, term?: SubscriptionTerm): Span {
  return term ? termPeriodAt(term, atMs) : calendarSpan('month', atMs);
}
