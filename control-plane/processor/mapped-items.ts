import type { ProcessorEventReason } from '../../schemas/resources/integrations.ts';
import { QUANTITY_MAX, SUBSCRIPTION_ADDONS_MAX } from '../../schemas/resources/subscriptions.ts';
import type { MappedPrice } from '../store/processor-prices.ts';
import type { SubscriptionRow } from '../store/subscriptions.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

type Attached = SubscriptionRow['addons'][number];

/** What the items of an event come to here, as far as their prices are mapped. */
export interface MappedItems {
  /** Undefined where no price is a plan's, or two are and neither is that of now. */
  planId?: string;
  /** To be attached, or to have this quantity. */
  put: Attached[];
  /** To be taken away. */
  removed: string[];
  missingPrices: string[];
  reasons: ProcessorEventReason[];
}

/** What is there now; of a subscription that is still to be made, nothing. */
export interface HeldItems {
  planId?: string;
  addons: readonly Attached[];
  /** Of these the ones that the processor attached. */
  processorAddonIds: readonly string[];
}

/**
 * Pure. A price of a plan makes it that plan; a price of an add-on makes the quantity of its items the
 * add-on's. An add-on that the processor attached goes with its last item; one that was attached here stays.
 */
export function mapItems(
  { items = [], hasMoreItems }: Pick<SubscriptionEvent, 'items' | 'hasMoreItems'>,
  mapped: readonly MappedPrice[],
  held: HeldItems,
): MappedItems {
  const byPrice = new Map(mapped.map((one) => [one.priceId, one]));
  const missingPrices = [...new Set(items.map(({ priceId }) => priceId))].filter((id) => !byPrice.has(id));
  const wanted = quantities(items, byPrice);
  const isTooMany = [...wanted.values()].some((quantity) => quantity > QUANTITY_MAX);
  const gone = hasMoreItems || items.length === 0 ? [] : held.processorAddonIds;
  const removed = gone.filter((addonId) => !wanted.has(addonId));
  const attached = [...wanted].map(([addonId, quantity]) => ({ addonId, quantity }));
  const kept = held.addons.filter(({ addonId }) => !removed.includes(addonId) && !wanted.has(addonId));
  const hasNoRoom = kept.length + attached.length > SUBSCRIPTION_ADDONS_MAX;
  const plan = planAmong(items, byPrice, held.planId);
  return {
    ...(plan.planId === undefined ? {} : { planId: plan.planId }),
    put: isTooMany || hasNoRoom ? [] : attached.filter((one) => !isHeld(held, one)),
    removed,
    missingPrices,
    reasons: [
      ...(missingPrices.length > 0 ? (['price_not_mapped'] as const) : []),
      ...(plan.isOneOfSeveral ? (['several_plans'] as const) : []),
      ...(isTooMany ? (['quantity_out_of_range'] as const) : []),
      ...(hasNoRoom ? (['too_many_addons'] as const) : []),
    ],
  };
}

type Items = NonNullable<SubscriptionEvent['items']>;
type ByPrice = ReadonlyMap<string, MappedPrice>;

/** By add-on; none is as if the item were not there. */
function quantities(items: Items, byPrice: ByPrice): Map<string, number> {
  const wanted = new Map<string, number>();
  for (const { priceId, quantity } of items) {
    const addonId = byPrice.get(priceId)?.addonId;
    if (addonId && quantity > 0) wanted.set(addonId, (wanted.get(addonId) ?? 0) + quantity);
  }
  return wanted;
}

/** Of two plans nobody can tell which is meant, unless it is on one of them. */
function planAmong(
  items: Items,
  byPrice: ByPrice,
  now: string | undefined,
): { planId?: string; isOneOfSeveral?: true } {
  const plans = new Set(items.flatMap(({ priceId }) => byPrice.get(priceId)?.planId ?? []));
  const [planId] = plans;
  if (planId === undefined || plans.size === 1) return planId === undefined ? {} : { planId };
  return now !== undefined && plans.has(now) ? { planId: now } : { isOneOfSeveral: true };
}

function isHeld({ addons, processorAddonIds }: HeldItems, { addonId, quantity }: Attached): boolean {
  const isSame = addons.some((one) => one.addonId === addonId && one.quantity === quantity);
  return isSame && processorAddonIds.includes(addonId);
}
