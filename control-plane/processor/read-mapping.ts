import type { ChangeContext } from '../changes/record-change.ts';
import { findMappedPrices, type MappedPrice } from '../store/processor-prices.ts';
import { sharePlan } from '../store/subscribed.ts';
import type { SubscriptionEvent } from './subscription-event.ts';

/** Of the prices in some events: what they stand for here, and whether their plan takes nobody any more. */
export type Mapping = ReadonlyArray<MappedPrice & { isPlanArchived: boolean }>;

/**
 * Nobody archives or changes one of these plans for the rest of the transaction. They are locked before
 * anything is told of a change: who changes a plan holds it while waiting for those that tell.
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
