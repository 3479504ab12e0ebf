import type { ChangeContext } from '../changes/record-change.ts';
import { findMappedPrices, type MappedPrice } from '../store/processor-prices.ts';
import { sharePlan } from '../store/subscribed.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/** What the prices in some events map to here, and whether their plan takes no new subscriptions. */
export type Mapping = ReadonlyArray<MappedPrice & { isPlanArchived: boolean }>;

/**
 * None of these plans is archived or changed for the rest of the transaction. They are locked before anything
 * is notified: a change of a plan keeps its lock while it waits for the notifying transactions.
 */
export async function readMapping(
  { db, environment }: Pick<ChangeContext, 'db' | 'environment'>,
  events: readonly SubscriptionEvent[],
): Promise<Mapping> {
  const priceIds = events.flatMap(({ items = [] }) => items.map(({ priceId }) => priceId));
  if (priceIds.length === 0) return [];
  const mapped = await findMappedPrices(db, environment, [...new Set(priceIds)]);
  const archived = new Set<string>();
  const planIds = new Set(mapped.flatMap(({ planId }) => planId ?? []));
  for (const planId of [...planIds].sort()) {
    const plan = await sharePlan(db, environment, planId);
    if (plan?.status === 'archived') archived.add(planId);
  }
  return mapped.map((one) => ({ ...one, isPlanArchived: archived.has(one.planId ?? '') }));
}
