import { isSameCourse } from '../../domain/rules/billing-period.ts';
import { hasEnded } from '../../domain/rules/subscription-status.ts';
import type { ChangeEvent } from '../../schemas/events.ts';
import { Defect, Rejected } from '../../schemas/failures.ts';
import type { Subscription } from '../../schemas/resources/subscriptions.ts';
import { changedFields } from '../changes/changed-fields.ts';
import { type ChangeContext, recordChange } from '../changes/record-change.ts';
import { grantRecurring } from '../credits/grant-recurring.ts';
import { touchEntitlements } from '../entitlements/changes/touch-entitlements.ts';
import { readGrantingSince } from '../store/credit-schedules.ts';
import { type SubscriptionFields, type SubscriptionRow, updateSubscription } from '../store/subscriptions.ts';
import { whenTaken } from '../store/unique-violation.ts';
import { recordTerm } from './record-term.ts';
import { shownSubscription } from './shown-subscription.ts';
import { termOfRow } from './subscription-fields.ts';

/**
 * Writes a change of a locked subscription and emits its events. The caller decides whether the change is
 * allowed. Throws Rejected `already_exists` where another subscription has the processor's id.
 */
export async function changeSubscription(
  context: ChangeContext,
  row: SubscriptionRow,
  fields: Partial<SubscriptionFields>,
): Promise<SubscriptionRow> {
  const { db, environment, nowMs } = context;
  const updated = await updateSubscription(db, environment, { ...row, ...fields }, new Date(nowMs)).catch(
    whenTaken(processorIdTaken),
  );
  if (!updated) throw new Defect('a locked subscription is missing');
  await recordSubscription(context, row, updated);
  return updated;
}

/**
 * The events and audit entry of a new subscription, or of a change of one. A change to the same values has
 * none.
 */
export async function recordSubscription(
  context: ChangeContext,
  before: SubscriptionRow | undefined,
  after: SubscriptionRow,
): Promise<void> {
  const [old, now] = [before && shownSubscription(before), shownSubscription(after)];
  if (old && changedFields(old, now).length === 0) return;
  const events = old ? eventsOf(old, now) : eventsOfNew(now);
  await recordChange(context, { objectId: after.id, before: old, after: now, events });
  const since = context.since ?? (before && tookEffectAt(before, after));
  const { heldFromMs } = await readGrantingSince(context.db, after.id, new Date(context.nowMs));
  await recordTerm(context, { before, after, at: since ?? new Date(context.nowMs) });
  if (!before || !grantsTheSame(before, after)) {
    await touchEntitlements(context, { customerIds: [after.customerId] }, since);
  }
  await grantRecurring(context, { before, after, atMs: since?.getTime() ?? context.nowMs, heldFromMs });
}

/** When a change took effect, if its fields contain that; undefined: now. */
function tookEffectAt(before: SubscriptionRow, after: SubscriptionRow): Date | undefined {
  if (before.status !== after.status) return after.statusSince;
  const { pendingPlanId, currentPeriodEnd } = before;
  const isOtherPlan = before.planId !== after.planId && after.planId === pendingPlanId;
  return isOtherPlan && after.currentPeriodStart >= currentPeriodEnd ? currentPeriodEnd : undefined;
}

/** Whether the customer's entitlements, and the periods of its meters, continue as they would have. */
function grantsTheSame(before: SubscriptionRow, after: SubscriptionRow): boolean {
  return (
    changedFields(customerGrantsOf(before), customerGrantsOf(after)).length === 0 &&
    isSameCourse(termOfRow(before), termOfRow(after))
  );
}

function customerGrantsOf({ planId, planVersion, status, addons, ...row }: SubscriptionRow) {
  const since = [row.statusSince, row.startsAt, row.canceledAt].map((at) => at?.getTime() ?? null);
  return { planId, planVersion, status, since, addons };
}

export function processorIdTaken(): Rejected {
  return new Rejected('already_exists', 'Another subscription has this processorSubscriptionId.', {
    param: 'processorSubscriptionId',
  });
}

type EmittedEvent = ChangeEvent & { objectId?: string };

function eventsOfNew({ id, customerId, planId }: Subscription): EmittedEvent[] {
  return [
    { type: 'subscription.created', data: { customerId, subscriptionId: id, planId } },
    planChanged(customerId),
  ];
}

/** `canceled` has its own event alone; metadata is the caller's own and causes no event. */
function eventsOf(before: Subscription, after: Subscription): EmittedEvent[] {
  const notified = changedFields({ ...before, metadata: undefined }, { ...after, metadata: undefined });
  const events: EmittedEvent[] = [];
  const { id: subscriptionId, canceledAt, customerId } = after;
  if (canceledAt !== undefined && before.canceledAt === undefined) {
    events.push({ type: 'subscription.canceled', data: { subscriptionId, canceledAt } });
  } else if (notified.length > 0) {
    events.push({
      type: 'subscription.updated',
      data: { subscriptionId, status: after.status, planId: after.planId },
    });
  }
  const isOtherPlan = before.planId !== after.planId || hasEnded(before.status) !== hasEnded(after.status);
  if (isOtherPlan) events.push(planChanged(customerId));
  return events;
}

function planChanged(customerId: string): EmittedEvent {
  return { type: 'customer.updated', data: { customerId, changes: ['plan'] }, objectId: customerId };
}
