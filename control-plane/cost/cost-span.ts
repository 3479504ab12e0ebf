import {
  type PricedSpan,
  type PricedTerm,
  type PriceSet,
  pricedSpans,
} from '../../domain/rules/rating/priced-spans.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { Database } from '../http/request-context.ts';
import { listPriceSets, type PriceSetRow, type StoredPrice } from '../store/price-sets.ts';

/** A priced span of a customer's subscription. */
export interface CostSpan extends PricedSpan<StoredPrice> {
  customerId: string;
  subscriptionId: string;
  /** What has the price. */
  owner: { planKey: string } | { addonKey: string };
  /** Of the prices that a simulation puts in place of a plan's. */
  isSimulated: boolean;
}

/** A subscription, and the time whose cost is wanted. */
export interface CostSubject {
  customerId: string;
  subscriptionId: string;
  terms: PricedTerm[];
  span: Span;
}

/** The prices of plans and add-ons. */
export interface PriceCatalogue {
  isSimulated?: boolean;
  /** In the order of time and versions. */
  sets: Array<PriceSet<StoredPrice>>;
  owners: Map<string, CostSpan['owner']>;
}

/** Of all plans and add-ons that these terms name. */
export async function readPriceCatalogue(
  db: Database,
  environment: string,
  terms: readonly PricedTerm[],
): Promise<PriceCatalogue> {
  const planIds = [...new Set(terms.map(({ planId }) => planId))];
  const addonIds = [...new Set(terms.flatMap(({ addons }) => addons.map(({ addonId }) => addonId)))];
  const rows = await listPriceSets(db, environment, { planIds, addonIds });
  return {
    sets: rows.map(({ ownerId, version, startsAt, prices }) => {
      return { ownerId, version, startsMs: startsAt.getTime(), prices };
    }),
    owners: new Map(rows.map((row) => [row.ownerId, ownerOf(row)])),
  };
}

function ownerOf({ ownerKey, version }: PriceSetRow): CostSpan['owner'] {
  return version === null ? { addonKey: ownerKey } : { planKey: ownerKey };
}

/**
 * What a subscription is charged for in its span, as far as that has begun: a price whose next period is
 * still to come is not charged yet. Ends once there are more than `spansMax`.
 */
export function costSpans(
  { terms, span, ...subject }: CostSubject,
  { sets, owners, isSimulated = false }: PriceCatalogue,
  { nowMs, spansMax }: { nowMs: number; spansMax: number },
): CostSpan[] {
  const ids = new Set(
    terms.flatMap(({ planId, addons }) => [planId, ...addons.map(({ addonId }) => addonId)]),
  );
  const own = sets.filter(({ ownerId }) => ids.has(ownerId));
  const begun = pricedSpans(terms, own, { ...span, spansMax }).filter(({ fromMs }) => fromMs <= nowMs);
  return begun.flatMap((one): CostSpan[] => {
    const owner = owners.get(one.ownerId);
    return owner ? [{ ...one, ...subject, owner, isSimulated }] : [];
  });
}
