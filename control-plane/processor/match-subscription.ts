import type { ChangeContext } from '../changes/record-change.ts';
import { findWaitingEvents, lockProcessorEvents, settleProcessorEvent } from '../store/processor-events.ts';
import { lockProcessorSubscription, type SubscriptionRow } from '../store/subscriptions.ts';
import { applyEvent } from './apply-event.ts';
import { createFromEvent, type FoundCustomer, findEventCustomer, NO_CUSTOMER } from './create-from-event.ts';
import { outdated } from './event-outcome.ts';
import { type KeptEvent, keptEvent } from './kept-event.ts';
import { type Mapping, readMapping } from './read-mapping.ts';

/**
 * Applies the events that wait for one subscription of the processor, in the order in which they happened
 * there, to the linked subscription; if none is linked, it may create one. Events that still cannot be
 * applied keep waiting with their reasons. So this may be called at any time, and repeatedly. Returns the
 * subscription.
 *
 * Locks are taken in one order: the events, the plans of their prices, the subscription or the customer; then
 * the locks of notifications.
 */
export async function matchSubscription(
  context: ChangeContext,
  processorSubscriptionId: string,
): Promise<SubscriptionRow | undefined> {
  const waiting = await holdWaiting(context, processorSubscriptionId);
  return applyWaiting(context, processorSubscriptionId, waiting);
}

/** The waiting events of one subscription of the processor, and what its prices map to. */
export interface Waiting {
  events: Array<KeptEvent & { id: string }>;
  mapping: Mapping;
}

/** No other transaction reads, applies or links any of these events until this one ends. */
export async function holdWaiting(
  context: Pick<ChangeContext, 'db' | 'environment'>,
  processorSubscriptionId: string,
): Promise<Waiting> {
  const { db, environment } = context;
  await lockProcessorEvents(db, environment, processorSubscriptionId);
  const rows = await findWaitingEvents(db, environment, processorSubscriptionId);
  const events = rows.map((row) => ({ ...keptEvent(row), id: row.id }));
  return {
    events,
    mapping: await readMapping(
      context,
      events.map(({ event }) => event),
    ),
  };
}

/** The second half of {@link matchSubscription}: a change that links runs between the two. */
export async function applyWaiting(
  context: ChangeContext,
  processorSubscriptionId: string,
  { events, mapping }: Waiting,
): Promise<SubscriptionRow | undefined> {
  const { db, environment, nowMs } = context;
  let row = await lockProcessorSubscription(db, environment, processorSubscriptionId);
  const customers: FoundCustomer[] = [];
  if (!row) for (const { event } of events) customers.push(await findEventCustomer(context, event));
  const settled: Settled[] = [];
  for (const [at, kept] of events.entries()) {
    const { row: after, outcome } = row
      ? await applyEvent(context, { row, mapping }, kept)
      : await createFromEvent(context, { customer: customers[at] ?? NO_CUSTOMER, mapping }, kept);
    const isApplied = after !== undefined && outcome.status !== 'ignored';
    const appliedAt = kept.appliedAt ?? (isApplied ? new Date(nowMs) : null);
    settled.push({ ...outcome, id: kept.id, appliedAt, changedAtMs: kept.event.changedAtMs });
    row = after;
  }
  for (const one of settled) await settleProcessorEvent(db, environment, lastOutcome(one, row));
  return row;
}

type Settled = Parameters<typeof settleProcessorEvent>[2] & { changedAtMs: number };

/** An event's missing objects are out of date once a newer one was applied. */
function lastOutcome(one: Settled, row: SubscriptionRow | undefined): Settled {
  const appliedMs = row?.processorChangedAt?.getTime() ?? 0;
  return one.status === 'unmatched' && one.changedAtMs < appliedMs ? { ...one, ...outdated(one) } : one;
}
