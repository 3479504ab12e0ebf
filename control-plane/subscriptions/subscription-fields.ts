/** Fields of a subscription that change together. */
import type { Span } from '../../schemas/rules/calendar.ts';
import { type BillingCycle, cycleOf, cycleThrough } from '../../schemas/rules/subscription-period.ts';
import type { SubscriptionStatus } from '../../schemas/rules/subscription-status.ts';
import type { SubscriptionFields } from '../store/subscriptions.ts';

type CycleFields = Pick<SubscriptionFields, 'anchor' | 'intervalMonths' | 'intervalMs'>;
type PeriodFields = CycleFields & Pick<SubscriptionFields, 'currentPeriodStart' | 'currentPeriodEnd'>;
type StatusFields = Pick<SubscriptionFields, 'status' | 'statusSince' | 'canceledAt'>;

/** In this status since that moment; nothing changes where it is in it already. */
export function movedTo(
  { status: from, statusSince, canceledAt }: StatusFields,
  status: SubscriptionStatus,
  at: Date,
): StatusFields {
  if (status === from) return { status, statusSince, canceledAt };
  return { status, statusSince: at, canceledAt: status === 'canceled' ? at : null };
}

/** In this period; the cycle of the row goes on where the period is one of its own. */
export function inPeriod(row: CycleFields | undefined, period: Span): PeriodFields {
  const cycle = row ? cycleThrough(cycleOfRow(row), period) : cycleOf(period);
  return {
    currentPeriodStart: new Date(period.fromMs),
    currentPeriodEnd: new Date(period.toMs),
    anchor: new Date(cycle.anchorMs),
    intervalMonths: cycle.intervalMonths,
    intervalMs: cycle.intervalMs,
  };
}

export function cycleOfRow({ anchor, intervalMonths, intervalMs }: CycleFields): BillingCycle {
  return { anchorMs: anchor.getTime(), intervalMonths, intervalMs };
}
