/** The items of a subscription of the processor, and its customer. */

import type { PeriodLength } from '../../domain/rules/billing-period.ts';
import { faultyText } from '../../schemas/primitives/exact-json.ts';
import { INTERVAL_COUNT_MAX } from '../../schemas/resources/subscriptions.ts';
import type { StripeItem, StripeSubscription } from './event-shapes.ts';

export interface EventItem {
  priceId: string;
  /** 1 if the processor counts none, as for a metered price. */
  quantity: number;
}

interface Items {
  items?: EventItem[];
  hasMoreItems?: true;
}

/** Absent if the event does not contain it. */
export function itemsOf({ items, plan, quantity }: StripeSubscription): Items {
  const own: StripeItem | undefined = plan ? { plan, quantity: quantity ?? null } : undefined;
  const data = items?.data ?? (own && [own]);
  if (!data) return {};
  return { items: data.flatMap(itemOf), ...(items?.has_more ? { hasMoreItems: true } : {}) };
}

function itemOf({ price, plan, quantity, deleted }: StripeItem): EventItem[] {
  const reference = price ?? plan;
  return reference && !deleted ? [{ priceId: idOf(reference), quantity: quantity ?? 1 }] : [];
}

/**
 * Of the first item with a recurring price: all items of a subscription recur alike, unless their periods
 * differ.
 */
export function lengthOf({ items }: StripeSubscription): { length?: PeriodLength } {
  for (const { price } of items?.data ?? []) {
    const recurring = typeof price === 'object' ? price?.recurring : undefined;
    if (!recurring) continue;
    const { interval, interval_count: count } = recurring;
    const intervalCount = Math.min(count ?? 1, INTERVAL_COUNT_MAX[interval]);
    return { length: { interval, intervalCount } };
  }
  return {};
}

interface References {
  processorCustomerId?: string;
  customerName?: string;
  sessionId?: string;
}

/** The subscription's own metadata, else that of its customer if the event contains it. */
export function referencesOf({ customer, metadata }: StripeSubscription): References {
  const ofCustomer = typeof customer === 'object' ? customer?.metadata : undefined;
  const customerName = nameIn(metadata, 'customerId') ?? nameIn(ofCustomer, 'customerId');
  const sessionId = nameIn(metadata, 'sessionId');
  return {
    ...(customer ? { processorCustomerId: idOf(customer) } : {}),
    ...(customerName === undefined ? {} : { customerName }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

/** The longest of our ids and session names. */
const NAME_CHARS_MAX = 128;

function nameIn(metadata: Record<string, unknown> | null | undefined, name: string): string | undefined {
  const value = metadata && Object.hasOwn(metadata, name) ? metadata[name] : undefined;
  if (typeof value !== 'string' || value === '' || value.length > NAME_CHARS_MAX) return undefined;
  return faultyText(value) === undefined ? value : undefined;
}

function idOf(reference: string | { id: string }): string {
  return typeof reference === 'string' ? reference : reference.id;
}
