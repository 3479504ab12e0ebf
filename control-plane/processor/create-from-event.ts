import { hasEnded } from '../../domain/rules/subscription-status.ts';
import { Defect } from '../../schemas/failures.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import type { ProcessorEventReason } from '../../schemas/resources/integrations.ts';
import { CUSTOMER_SUBSCRIPTIONS_MAX } from '../../schemas/resources/subscriptions.ts';
import type { ChangeContext } from '../changes/record-change.ts';
import type { EventOutcome } from '../store/processor-events.ts';
import {
  countLivingSubscriptions,
  lockProcessorSubscriber,
  lockSubscriber,
  type SubscribedCustomer,
} from '../store/subscribed.ts';
import { putProcessorAddon } from '../store/subscription-addons.ts';
import { findSubscription, insertSubscription } from '../store/subscriptions.ts';
import { recordSubscription } from '../subscriptions/change-subscription.ts';
import type { Applied } from './apply-event.ts';
import { APPLIED, unmatched } from './event-outcome.ts';
import type { KeptEvent } from './kept-event.ts';
import { type MappedItems, mapItems } from './mapped-items.ts';
import type { Mapping } from './read-mapping.ts';
import { firstFields } from './reported-fields.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/**
 * Creates the subscription that was created at the processor, if its customer is known and a price is mapped
 * to a plan; else it reports what is missing.
 */
export async function createFromEvent(
  context: ChangeContext,
  { customer, mapping }: { customer: FoundCustomer; mapping: Mapping },
  kept: KeptEvent,
): Promise<Applied | { row?: undefined; outcome: EventOutcome }> {
  const { event } = kept;
  if (hasEnded(event.status)) return { outcome: unmatched(['subscription_not_linked']) };
  const items = mapItems(event, mapping, NOTHING_HELD);
  const { planId, missingPrices } = items;
  const isUnpriced = planId === undefined && items.reasons.length === 0;
  const reasons = [...customer.reasons, ...(isUnpriced ? (['price_not_mapped'] as const) : items.reasons)];
  if (customer.id === undefined || planId === undefined) {
    const { missingCustomer, missingName } = customer;
    const missing = { missingPrices, missingCustomer, missingName };
    return { outcome: unmatched(['subscription_not_linked', ...reasons], missing) };
  }
  const row = await insert(context, kept, { customerId: customer.id, planId, items });
  return { row, outcome: reasons.length > 0 ? unmatched(reasons, { missingPrices }) : APPLIED };
}

/** The customer of an event's subscription. */
export interface FoundCustomer {
  /** Undefined if the customer cannot subscribe to it. */
  id?: string;
  reasons: ProcessorEventReason[];
  missingCustomer: string | null;
  missingName: string | null;
}

export const NO_CUSTOMER: FoundCustomer = {
  reasons: ['customer_not_known'],
  missingCustomer: null,
  missingName: null,
};

/** The customer, locked: by the processor's id, else by the name in the subscription's metadata. */
export async function findEventCustomer(
  { db, environment }: ChangeContext,
  { processorCustomerId, customerName }: SubscriptionEvent,
): Promise<FoundCustomer> {
  const found =
    (processorCustomerId && (await lockProcessorSubscriber(db, environment, processorCustomerId))) ||
    (customerName && (await lockSubscriber(db, environment, customerName)));
  const nothingMissing = { missingCustomer: null, missingName: null };
  if (!found) {
    return {
      ...NO_CUSTOMER,
      missingCustomer: processorCustomerId ?? null,
      missingName: customerName ?? null,
    };
  }
  const blocker = await blockerOf({ db, environment }, found);
  if (blocker) return { ...nothingMissing, reasons: [blocker] };
  return { ...nothingMissing, id: found.id, reasons: [] };
}

async function blockerOf(
  { db, environment }: Pick<ChangeContext, 'db' | 'environment'>,
  { id, status }: SubscribedCustomer,
): Promise<ProcessorEventReason | undefined> {
  if (status !== 'active') return 'customer_archived';
  const living = await countLivingSubscriptions(db, environment, id);
  return living < CUSTOMER_SUBSCRIPTIONS_MAX ? undefined : 'too_many_subscriptions';
}

const NOTHING_HELD = { addons: [], processorAddonIds: [] };

interface NewRow {
  customerId: string;
  planId: string;
  items: MappedItems;
}

async function insert(context: ChangeContext, kept: KeptEvent, { customerId, planId, items }: NewRow) {
  const { db, environment, nowMs } = context;
  const { sessionId } = kept.event;
  const id = newId('sub');
  const inserted = await insertSubscription(db, environment, {
    ...firstFields(kept, nowMs),
    id,
    customerId,
    planId,
    planVersion: null,
    metadata: sessionId === undefined ? null : JSON.stringify({ sessionId }),
    createdAt: new Date(nowMs),
  });
  if (!inserted) throw new Defect('a subscription of the processor is linked while its events are locked');
  for (const addon of items.put) await putProcessorAddon(db, id, addon);
  const row = await findSubscription(db, environment, id);
  if (!row) throw new Defect('a subscription of this transaction is missing');
  await recordSubscription(context, undefined, row);
  return row;
}
