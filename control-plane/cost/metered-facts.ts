import { findManyCustomerGrants, heldNow } from '../../domain/find-customer-grants.ts';
import { resolveEntitlements } from '../../domain/rules/resolve-entitlements.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import type { Database } from '../http/request-context.ts';
import { findFeatures } from '../store/features.ts';
import { findMeters } from '../store/meters.ts';
import type { StoredPrice } from '../store/price-sets.ts';
import type { MeteredFacts } from './span-usage.ts';

/** Of these prices and customers, the seats as they are now. */
export async function readMeteredFacts(
  db: Database,
  environment: string,
  { prices, customerIds, nowMs }: { prices: readonly StoredPrice[]; customerIds: string[]; nowMs: number },
): Promise<MeteredFacts> {
  const meterKeys = new Set(prices.flatMap((price) => ('meterKey' in price ? [price.meterKey] : [])));
  const meters = meterKeys.size === 0 ? [] : await findMeters(db, environment, [...meterKeys]);
  const featureKeys = new Set(prices.flatMap((price) => ('featureKey' in price ? [price.featureKey] : [])));
  const seats = await readSeats(db, environment, { featureKeys: [...featureKeys], customerIds, nowMs });
  return {
    aggregations: new Map(meters.map(({ key, aggregation }) => [key, aggregation])),
    seatsOf: (customerId, featureKey) => seats.get(customerId)?.get(featureKey),
  };
}

/** By customer and feature. */
async function readSeats(
  db: Database,
  environment: string,
  { featureKeys, customerIds, nowMs }: { featureKeys: string[]; customerIds: string[]; nowMs: number },
): Promise<Map<string, Map<string, bigint>>> {
  if (featureKeys.length === 0) return new Map();
  const featureIds = (await findFeatures(db, environment, featureKeys)).map(({ id }) => id);
  const question = { environment, customerIds, atMs: nowMs, featureIds, meterKeys: [] };
  const found = await findManyCustomerGrants(db, question);
  return new Map(
    [...found].map(([customerId, customer]) => {
      const { features } = resolveEntitlements(heldNow(customer), nowMs);
      const counted = [...features].flatMap(([key, { value }]) =>
        typeof value === 'string' ? [[key, decimalUnits(value)] as const] : [],
      );
      return [customerId, new Map(counted)];
    }),
  );
}
