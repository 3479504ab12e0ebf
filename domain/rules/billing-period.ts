import { calendarSpan, type Span } from '../../schemas/primitives/calendar.ts';
import { type SubscriptionTerm, termPeriodAt } from './subscription-period.ts';

/**
 * The period by which a customer's counters are kept at a given time: the subscription's period, computed as
 * if it was always renewed in time; without a subscription, the UTC calendar month.
 */
export function billingPeriod(atMs: number, term?: SubscriptionTerm): Span {
  return term ? termPeriodAt(term, atMs) : calendarSpan('month', atMs);
}
