/** Fields of a subscription that change together. */
import type { Span } from '../../schemas/rules/calendar.ts';
import {
  type BillingCycle,
  cycleThrough,
  type SubscriptionTerm,
} from '../../schemas/rules/subscription-period.ts';
import type { SubscriptionStatus } from '../../schemas/rules/subscription-status.ts';
import type { SubscriptionFields } from '../store/subscriptions.ts';

type CycleFields = Pick<SubscriptionFields, 'anchor' | 'interval' | 'intervalCount' | 'legacyIntervalMs'>;
export type TermFields = CycleFields & Pick<SubscriptionFields, 'currentPeriodStart' | 'currentPeriodEnd'>;
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

/** In this period; the lattice of the row goes on where the period ends on it. */
export function inPeriod(row: CycleFields, period: Span): TermFields {
  return fieldsOfTerm({ cycle: cycleThrough(cycleOfRow(row), period), period });
}

export function fieldsOfTerm({ cycle, period }: SubscriptionTerm): TermFields {
  return {
    currentPeriodStart: new Date(period.fromMs),
    currentPeriodEnd: new Date(period.toMs),
    anchor: new Date(cycle.anchorMs),
    interval: cycle.interval,
    intervalCount: cycle.intervalCount,
    legacyIntervalMs: cycle.legacyIntervalMs ?? null,
  };
}

export function termOfRow(row: TermFields): SubscriptionTerm {
  const { currentPeriodStart: start, currentPeriodEnd: end } = row;
  return { cycle: cycleOfRow(row), period: { fromMs: start.getTime(), toMs: end.getTime() } };
}

function cycleOfRow({ anchor, interval, intervalCount, legacyIntervalMs }: CycleFields): BillingCycle {
  const cycle = { anchorMs: anchor.getTime(), interval, intervalCount };
  return legacyIntervalMs === null ? cycle : { ...cycle, legacyIntervalMs };
}
