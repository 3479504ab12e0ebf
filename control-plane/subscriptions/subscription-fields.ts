import {
  type BillingCycle,
  cycleThrough,
  type SubscriptionTerm,
  termPeriodAt,
} from '../../domain/rules/billing-period.ts';
import { hasEnded } from '../../domain/rules/subscription-status.ts';
/** Fields of a subscription that change together. */
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { SubscriptionStatus } from '../../schemas/value-sets.ts';
import type { SubscriptionFields } from '../store/subscriptions.ts';

type CycleFields = Pick<SubscriptionFields, 'anchor' | 'interval' | 'intervalCount' | 'legacyIntervalMs'>;
export type TermFields = CycleFields & Pick<SubscriptionFields, 'currentPeriodStart' | 'currentPeriodEnd'>;
type StatusFields = Pick<SubscriptionFields, 'status' | 'statusSince' | 'canceledAt'>;
type PlanFields = Pick<SubscriptionFields, 'planId' | 'planVersion' | 'pendingPlanId'>;

/**
 * In this status since that time; no change if it is in it already. A subscription that has ended has no
 * pending plan.
 */
export function movedTo(
  { status: from, statusSince, canceledAt }: StatusFields,
  status: SubscriptionStatus,
  at: Date,
): StatusFields & Partial<PlanFields> {
  if (status === from) return { status, statusSince, canceledAt };
  const moved = { status, statusSince: at, canceledAt: status === 'canceled' ? at : null };
  return hasEnded(status) ? { ...moved, pendingPlanId: null } : moved;
}

/**
 * In the period that contains this time, however many periods later, on the pending plan if there is one;
 * undefined if its period has not ended by then. A plan that was archived meanwhile is applied: the change
 * was made while the plan was offered.
 */
export function rolledTo(
  row: TermFields & PlanFields,
  atMs: number,
): (TermFields & Partial<PlanFields>) | undefined {
  if (row.currentPeriodEnd.getTime() > atMs) return undefined;
  return { ...inPeriod(row, termPeriodAt(termOfRow(row), atMs)), ...pendingPlan(row) };
}

/** A new plan starts without a pinned version. */
export function pendingPlan({ pendingPlanId }: PlanFields): Partial<PlanFields> {
  return pendingPlanId === null ? {} : { planId: pendingPlanId, planVersion: null, pendingPlanId: null };
}

/**
 * From when on it counts, once its period begins at another time. A subscription that is moved into the
 * future counts from then on, even if it counted before, unless the next period follows the running one
 * without a gap: a renewal that is recorded early removes nothing.
 */
export function startMoved(
  { startsAt, currentPeriodStart, currentPeriodEnd }: TermFields & Pick<SubscriptionFields, 'startsAt'>,
  { fromMs }: Span,
  nowMs: number,
): Pick<SubscriptionFields, 'startsAt'> {
  if (fromMs === currentPeriodStart.getTime()) return { startsAt };
  const hasBegun = startsAt.getTime() <= nowMs;
  if (hasBegun && (fromMs <= nowMs || fromMs === currentPeriodEnd.getTime())) {
    return { startsAt: new Date(Math.min(startsAt.getTime(), fromMs)) };
  }
  return { startsAt: new Date(fromMs) };
}

/** In this period; the row's series of periods continues where the period ends on it. */
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
