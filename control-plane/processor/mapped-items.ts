import type { ProcessorEventReason } from '../../schemas/resources/integrations.ts';
import { QUANTITY_MAX, SUBSCRIPTION_ADDONS_MAX } from '../../schemas/resources/subscriptions.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import type { Mapping } from './read-mapping.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

type Attached = SubscriptionRow['addons'][number];

/** What the items of an event map to here, as far as their prices are mapped. */
export interface MappedItems {
  /** Absent where no price belongs to a plan that it may have; of two plans only the present one is used. */
  planId?: string;
  /** Add-ons to attach, or to set to this quantity. */
  put: Attached[];
  /** To be removed. */
  removed: string[];
  missingPrices: string[];
  reasons: ProcessorEventReason[];
}

/** The present state; empty for a subscription that is still to be created. */
export interface PresentItems {
  planId?: string;
  addons: readonly Attached[];
  /** The add-ons among these that the processor attached. */
  processorAddonIds: readonly string[];
}

/**
 * Pure. A price of a plan selects that plan; a price of an add-on sets the add-on's quantity to that of its
 * items. An add-on that the processor attached is removed with its last item; one that was attached here
 * stays. An archived plan takes no new subscriptions, and keeps those it has.
 */
export function mapItems(
  { items = [], hasMoreItems }: Pick<SubscriptionEvent, 'items' | 'hasMoreItems'>,
  mapping: Mapping,
  present: PresentItems,
): MappedItems {
  const byPrice = new Map(mapping.map((one) => [one.priceId, one]));
  const missingPrices = [...new Set(items.map(({ priceId }) => priceId))].filter((id) => !byPrice.has(id));
  const wanted = quantities(items, byPrice);
  const isTooMany = [...wanted.values()].some((quantity) => quantity > QUANTITY_MAX);
  const missing = hasMoreItems || items.length === 0 ? [] : present.processorAddonIds;
  const removed = missing.filter((addonId) => !wanted.has(addonId));
  const attached = [...wanted].map(([addonId, quantity]) => ({ addonId, quantity }));
  const kept = present.addons.filter(({ addonId }) => !removed.includes(addonId) && !wanted.has(addonId));
  const hasNoRoom = kept.length + attached.length > SUBSCRIPTION_ADDONS_MAX;
  const plan = planAmong(items, byPrice, present.planId);
  return {
    ...(plan.planId === undefined ? {} : { planId: plan.planId }),
    put: isTooMany || hasNoRoom ? [] : attached.filter((one) => !isPresent(present, one)),
    removed,
    missingPrices,
    reasons: [
      ...(missingPrices.length > 0 ? (['price_not_mapped'] as const) : []),
      ...(plan.reason ? [plan.reason] : []),
      ...(isTooMany ? (['quantity_out_of_range'] as const) : []),
      ...(hasNoRoom ? (['too_many_addons'] as const) : []),
    ],
  };
}

type Items = NonNullable<SubscriptionEvent['items']>;
type ByPrice = ReadonlyMap<string, Mapping[number]>;

/** By add-on; quantity 0 is as if the item were absent. */
function quantities(items: Items, byPrice: ByPrice): Map<string, number> {
  const wanted = new Map<string, number>();
  for (const { priceId, quantity } of items) {
    const addonId = byPrice.get(priceId)?.addonId;
    if (addonId && quantity > 0) wanted.set(addonId, (wanted.get(addonId) ?? 0) + quantity);
  }
  return wanted;
}

/** With two plans it is ambiguous which one is meant, unless the subscription is on one of them. */
function planAmong(
  items: Items,
  byPrice: ByPrice,
  now: string | undefined,
): { planId?: string; reason?: ProcessorEventReason } {
  const found = items.flatMap(({ priceId }) => byPrice.get(priceId) ?? []).filter(({ planId }) => planId);
  const plans = new Map(found.map(({ planId, isPlanArchived }) => [planId, isPlanArchived]));
  if (now !== undefined && plans.has(now)) return { planId: now };
  const [[planId, isArchived] = []] = plans;
  if (!planId) return {};
  if (plans.size > 1) return { reason: 'several_plans' };
  return isArchived ? { reason: 'plan_archived' } : { planId };
}

function isPresent({ addons, processorAddonIds }: PresentItems, { addonId, quantity }: Attached): boolean {
  const isSame = addons.some((one) => one.addonId === addonId && one.quantity === quantity);
  return isSame && processorAddonIds.includes(addonId);
}
