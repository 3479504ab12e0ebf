import type { ChangeContext } from '../record-change.ts';
import { insertProcessorEvent } from '../store/processor-events.ts';
import {
  lockProcessorSubscription,
  type SubscriptionFields,
  type SubscriptionRow,
} from '../store/subscriptions.ts';
import { changeSubscription } from '../subscriptions/change-subscription.ts';
import { inPeriod, movedTo } from '../subscriptions/subscription-fields.ts';
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
  await changeSubscription(context, row, fieldsAfter(row, event));
}

function fieldsAfter(row: SubscriptionRow, event: SubscriptionEvent): Partial<SubscriptionFields> {
  const { status, statusSinceMs, period, cancelAtMs, trialEndMs, changedAtMs } = event;
  return {
    ...movedTo(row, status, new Date(statusSinceMs)),
    ...(period ? inPeriod(row, period) : {}),
    ...(cancelAtMs === undefined ? {} : { cancelAt: momentOf(cancelAtMs) }),
    ...(trialEndMs === undefined ? {} : { trialEnd: momentOf(trialEndMs) }),
    processorChangedAt: new Date(changedAtMs),
  };
}

function momentOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}
