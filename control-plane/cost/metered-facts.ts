import {
  type CustomerWithGrants,
  findManyCustomerGrants,
  heldNow,
} from '../../domain/find-customer-grants.ts';
import { type EffectiveEntitlement, resolveEntitlements } from '../../domain/rules/resolve-entitlements.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
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
  const aggregations = await readAggregations(db, environment, prices.flatMap(meterKeysOf));
  const featureKeys = prices.flatMap(featureKeysOf);
  const held = await readGrantsOf(db, environment, { featureKeys, customerIds, nowMs });
  const seats = new Map([...held].map(([id, customer]) => [id, valuesOf(customer, nowMs)]));
  return {
    aggregations,
    seatsOf: ({ customerId }, featureKey) => unitsOf(seats.get(customerId)?.get(featureKey)),
  };
}

export async function readAggregations(
  db: Database,
  environment: string,
  meterKeys: readonly string[],
): Promise<Map<string, Aggregation>> {
  const meters = meterKeys.length === 0 ? [] : await findMeters(db, environment, [...new Set(meterKeys)]);
  return new Map(meters.map(({ key, aggregation }) => [key, aggregation]));
}

/** By customer, of these features alone. */
export async function readGrantsOf(
  db: Database,
  environment: string,
  asked: { featureKeys: readonly string[]; customerIds: string[]; nowMs: number },
): Promise<Map<string, CustomerWithGrants>> {
  const { featureKeys, customerIds, nowMs: atMs } = asked;
  if (featureKeys.length === 0) return new Map();
  const featureIds = (await findFeatures(db, environment, [...new Set(featureKeys)])).map(({ id }) => id);
  return findManyCustomerGrants(db, { environment, customerIds, atMs, featureIds, meterKeys: [] });
}

export function valuesOf(
  customer: CustomerWithGrants,
  nowMs: number,
): ReadonlyMap<string, EffectiveEntitlement> {
  return resolveEntitlements(heldNow(customer), nowMs).features;
}

/** Undefined: there is none, or it is unlimited. */
export function unitsOf(entitlement: EffectiveEntitlement | undefined): bigint | undefined {
  return typeof entitlement?.value === 'string' ? decimalUnits(entitlement.value) : undefined;
}

export function meterKeysOf(price: StoredPrice): string[] {
  return 'meterKey' in price ? [price.meterKey] : [];
}

export function featureKeysOf(price: StoredPrice): string[] {
  return 'featureKey' in price ? [price.featureKey] : [];
}
