import type { ChangeContext } from '../record-change.ts';
import { findWaitingEvents, lockProcessorEvents, settleProcessorEvent } from '../store/processor-events.ts';
import { lockProcessorSubscription, type SubscriptionRow } from '../store/subscriptions.ts';
import { applyEvent } from './apply-event.ts';
import { createFromEvent } from './create-from-event.ts';
import { outdated } from './event-outcome.ts';
import { keptEvent } from './kept-event.ts';

/**
 * Applies the events that wait for one subscription of the processor, in the order in which they happened
 * there, to the subscription that is linked to it; where none is, one may be created. What still cannot be
 * applied keeps waiting with its reasons. So this may be called at any time, and repeatedly. Returns the
 * subscription.
 *
 * The events are locked first, before the customer, the plan and the subscription.
 */
export async function matchSubscription(
  context: ChangeContext,
  processorSubscriptionId: string,
): Promise<SubscriptionRow | undefined> {
  const { db, environment, nowMs } = context;
  await lockProcessorEvents(db, environment, processorSubscriptionId);
  const waiting = await findWaitingEvents(db, environment, processorSubscriptionId);
  let row = await lockProcessorSubscription(db, environment, processorSubscriptionId);
  const settled: Settled[] = [];
  for (const { id, ...one } of waiting) {
    const kept = keptEvent(one);
    const { row: after, outcome } = row
      ? await applyEvent(context, row, kept)
      : await createFromEvent(context, kept);
    const isApplied = after !== undefined && outcome.status !== 'ignored';
    const appliedAt = kept.appliedAt ?? (isApplied ? new Date(nowMs) : null);
    settled.push({ ...outcome, id, appliedAt, changedAtMs: kept.event.changedAtMs });
    row = after;
  }
  for (const one of settled) await settleProcessorEvent(db, environment, lastOutcome(one, row));
  return row;
}

type Settled = Parameters<typeof settleProcessorEvent>[2] & { changedAtMs: number };

/** What an event waits for is no longer so once a newer one was applied. */
function lastOutcome(one: Settled, row: SubscriptionRow | undefined): Settled {
  const appliedMs = row?.processorChangedAt?.getTime() ?? 0;
  return one.status === 'unmatched' && one.changedAtMs < appliedMs ? { ...one, ...outdated(one) } : one;
}
