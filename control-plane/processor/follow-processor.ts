import type { ChangeContext } from '../record-change.ts';
import { insertProcessorEvent } from '../store/processor-events.ts';
import {
  lockProcessorSubscription,
  type SubscriptionFields,
  type SubscriptionRow,
} from '../store/subscriptions.ts';
import { changeSubscription } from '../subscriptions/change-subscription.ts';
import { inPeriod, movedTo, pendingPlan } from '../subscriptions/subscription-fields.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/**
 * Moves the subscription to where the processor says that it is, also where our own table knows no such
 * transition. Nothing happens where it is not known here, where the event was taken before, or where a newer
 * one was.
 */
export async function followProcessor(context: ChangeContext, event: SubscriptionEvent): Promise<void> {
  const { db, environment, nowMs } = context;
  const row = await lockProcessorSubscription(db, environment, event.processorSubscriptionId);
  if (!row) return;
  const taken = await insertProcessorEvent(db, environment, { id: event.id, receivedAt: new Date(nowMs) });
  const isOlder = row.processorChangedAt !== null && event.changedAtMs < row.processorChangedAt.getTime();
  if (!taken || isOlder) return;
  const isNextPeriod = event.period !== undefined && event.period.fromMs >= row.currentPeriodEnd.getTime();
  // A plan that waited for the next period holds from its start on.
  const since = isNextPeriod && event.period ? { since: new Date(Math.min(event.period.fromMs, nowMs)) } : {};
  const fields = { ...(isNextPeriod ? pendingPlan(row) : {}), ...fieldsAfter(row, event, nowMs) };
  await changeSubscription({ ...context, ...since }, row, fields);
}

/** A period is taken as it is told, and the interval stays: what the next one is will be told as well. */
function fieldsAfter(
  row: SubscriptionRow,
  { status, statusSinceMs, period, cancelAtMs, trialEndMs, changedAtMs }: SubscriptionEvent,
  nowMs: number,
): Partial<SubscriptionFields> {
  const endMs = period?.toMs ?? row.currentPeriodEnd.getTime();
  return {
    ...movedTo(row, status, new Date(statusSinceMs)),
    ...(period ? inPeriod(row, period) : {}),
    // What the processor tells of has begun, also where its clock is ahead of ours.
    startsAt: new Date(Math.min(row.startsAt.getTime(), nowMs)),
    ...(cancelAtMs === undefined
      ? {}
      : { cancelAt: momentOf(cancelAtMs), cancelsAtPeriodEnd: cancelAtMs === endMs }),
    ...(trialEndMs === undefined ? {} : { trialEnd: momentOf(trialEndMs) }),
    processorChangedAt: new Date(changedAtMs),
  };
}

function momentOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
