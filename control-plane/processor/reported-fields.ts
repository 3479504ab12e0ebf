/** The content of an event, as fields of a subscription here. */
import { cycleOf, later, type PeriodLength } from '../../domain/rules/billing-period.ts';
import type { SubscriptionFields, SubscriptionRow } from '../store/subscriptions.ts';
import { fieldsOfTerm, inPeriod, movedTo, pendingPlan } from '../subscriptions/subscription-fields.ts';
import type { KeptEvent } from './kept-event.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/** For an existing subscription, without its plan. */
export function reportedFields(
  row: SubscriptionRow,
  kept: KeptEvent,
  nowMs: number,
): Partial<SubscriptionFields> {
  const { event } = kept;
  const { status, cancelAtMs, trialEndMs, period } = event;
  const endMs = period?.toMs ?? row.currentPeriodEnd.getTime();
  return {
    ...movedTo(row, status, sinceOf(kept)),
    ...(period ? { ...inPeriod(row, period), ...otherLength(row, { ...event, period }) } : {}),
    // A change reported by the processor has begun, also where its clock is ahead of ours.
    startsAt: new Date(Math.min(row.startsAt.getTime(), nowMs)),
    ...(cancelAtMs === undefined ? {} : cancelFields(cancelAtMs, endMs)),
    ...(trialEndMs === undefined ? {} : { trialEnd: timeOf(trialEndMs) }),
    ...processorFields(event),
  };
}

/**
 * The plan of its items, if they have one: that is what the customer pays for. Otherwise the pending plan is
 * applied with the next period.
 */
export function reportedPlan(
  row: SubscriptionRow,
  { event: { period }, appliedAt }: KeptEvent,
  planId: string | undefined,
): Partial<SubscriptionFields> {
  const isNextPeriod = !appliedAt && period !== undefined && period.fromMs >= row.currentPeriodEnd.getTime();
  if (planId === undefined) return isNextPeriod ? pendingPlan(row) : {};
  const isReached = isNextPeriod || row.pendingPlanId === planId;
  return {
    ...(planId === row.planId ? {} : { planId, planVersion: null }),
    ...(isReached ? { pendingPlanId: null } : {}),
  };
}

/** The fields of a new subscription, without its customer, its plan and its add-ons. */
export function firstFields(
  kept: KeptEvent,
  nowMs: number,
): Omit<SubscriptionFields, 'planId' | 'planVersion' | 'metadata'> {
  const { event } = kept;
  const { length = MONTHLY, status, trialEndMs = null, cancelAtMs = null } = event;
  const period = event.period ?? { fromMs: nowMs, toMs: later(length, nowMs, 1) };
  return {
    ...fieldsOfTerm({ cycle: cycleOf(period, length), period }),
    startsAt: new Date(Math.min(period.fromMs, nowMs)),
    pendingPlanId: null,
    noRollBefore: null,
    status,
    statusSince: sinceOf(kept),
    canceledAt: null,
    trialEnd: timeOf(trialEndMs),
    ...cancelFields(cancelAtMs, period.toMs),
    processorSubscriptionId: event.processorSubscriptionId,
    localChangedAt: null,
    ...processorFields(event),
  };
}

const MONTHLY: PeriodLength = { interval: 'month', intervalCount: 1 };

/** By our own time for a test clock: the grace of an overdue payment is counted from it. */
function sinceOf({ event, receivedAt }: KeptEvent): Date {
  return event.isSimulated ? receivedAt : new Date(event.statusSinceMs);
}

/** A period of another length than the row's begins a new series of periods. */
function otherLength(
  row: SubscriptionRow,
  { length, period }: SubscriptionEvent & { period: NonNullable<SubscriptionEvent['period']> },
): Partial<SubscriptionFields> {
  const { interval, intervalCount, legacyIntervalMs } = row;
  const isSame =
    !length ||
    (length.interval === interval && length.intervalCount === intervalCount && legacyIntervalMs === null);
  return isSame ? {} : fieldsOfTerm({ cycle: cycleOf(period, length), period });
}

function cancelFields(ms: number | null, periodEndMs: number) {
  const cancelAt = timeOf(ms);
  return { cancelAt, processorCancelAt: cancelAt, cancelsAtPeriodEnd: ms === periodEndMs };
}

function processorFields({ changedAtMs, isSimulated }: SubscriptionEvent) {
  return { processorChangedAt: new Date(changedAtMs), processorSimulated: isSimulated };
}

function timeOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
