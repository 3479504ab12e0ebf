import { calendarSpan, type Span } from './calendar.ts';

/**
 * The period that counters of a customer are kept by at a moment: without a subscription the UTC calendar
 * month.
 */
export function billingPeriod(atMs: number): Span {
  return calendarSpan('month', atMs);
}
