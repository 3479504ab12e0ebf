import type { TSchema } from 'typebox';
import type { Price as RatedPrice } from '../../domain/rules/rating/price.ts';
import { overlap, type PriceFault, priceFault } from '../../domain/rules/rating/price-faults.ts';
import { Rejected } from '../../schemas/failures.ts';
import { exactNumber, numberText, parseExact } from '../../schemas/primitives/exact-json.ts';
import { PRICE_MODELS, type Price } from '../../schemas/resources/prices.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { RequestContext } from '../http/request-context.ts';
import { findFeatures } from '../store/features.ts';
import { findMeters } from '../store/meters.ts';
import type { StoredPrice } from '../store/price-sets.ts';
import { readDecimal } from './read-decimal.ts';

/**
 * The `prices` of a checked body, with decimals from the body's own text. Throws Rejected: tiers out of
 * order, prices that overlap, an unknown currency, a meter or feature that does not suit (400), an unknown
 * meter or feature (404), too many digits (422).
 */
export async function readPrices(context: RequestContext, bodyText: string): Promise<StoredPrice[]> {
  const { prices: given } = parseExact(bodyText) as { prices: Price[] };
  const read = given.map((one, at) => {
    const known = storable(PRICE_MODELS[one.model], one, `prices.${at}`);
    return { intervalCount: 1, ...(known as object) } as StoredPrice;
  });
  for (const [at, price] of read.entries()) throwIf(priceFault(price), at);
  const prices = await withFeatures(context, await withMeters(context, read));
  const overlapping = overlap(prices);
  if (overlapping) throwIf(overlapping.fault, overlapping.at);
  return prices;
}

export function shownPrices(prices: readonly StoredPrice[]): Price[] {
  return prices.map((price) => shown(PRICE_MODELS[price.model], price) as Price);
}

interface Shape {
  type?: string;
  format?: string;
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
  items?: TSchema;
}

/** With decimals as canonical texts, and without members that the schema does not name. */
function storable(schema: TSchema | undefined, value: unknown, place: string): unknown {
  const { type, properties = {}, patternProperties, items } = (schema ?? {}) as Shape;
  const text = numberText(value);
  if (text !== undefined) return type === 'integer' ? Number(text) : readDecimal(value, place);
  if (Array.isArray(value)) return value.map((one, at) => storable(items, one, `${place}.${at}`));
  if (typeof value !== 'object' || value === null) return value;
  const [any] = Object.values(patternProperties ?? {});
  const known = Object.entries(value).flatMap(([name, inner]) => {
    const below = any ?? (Object.hasOwn(properties, name) ? properties[name] : undefined);
    return below ? [[name, storable(below, inner, `${place}.${name}`)] as const] : [];
  });
  return Object.fromEntries(known);
}

/** In the schema's order, which jsonb does not keep: one text for each set, whose ETag it makes. */
function shown(schema: TSchema | undefined, value: unknown): unknown {
  const { format, properties = {}, patternProperties, items } = (schema ?? {}) as Shape;
  if (format === 'decimal' && typeof value === 'string') return exactNumber(value);
  if (Array.isArray(value)) return value.map((one) => shown(items, one));
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  const [any] = Object.values(patternProperties ?? {});
  const names = any ? Object.keys(members).sort() : Object.keys(properties);
  const present = names.filter((name) => Object.hasOwn(members, name));
  return Object.fromEntries(present.map((name) => [name, shown(any ?? properties[name], members[name])]));
}

/** With the keys of their meters, which a request may name by id. */
async function withMeters(
  { db, environment }: RequestContext,
  prices: readonly StoredPrice[],
): Promise<StoredPrice[]> {
  const names = prices.flatMap((price) => ('meterKey' in price ? [price.meterKey] : []));
  const meters = names.length === 0 ? [] : await findMeters(db, environment, names);
  return prices.map((price, at) => {
    if (!('meterKey' in price)) return price;
    const meter = meters.find(({ id, key }) => id === price.meterKey || key === price.meterKey);
    const param = `prices.${at}.meterKey`;
    if (!meter) throw new Rejected('meter_not_found', `There is no meter ${price.meterKey}.`, { param });
    throwIf(aggregationFault(price, meter.aggregation), at);
    return { ...price, meterKey: meter.key };
  });
}

function aggregationFault(price: RatedPrice, aggregation: Aggregation): PriceFault | undefined {
  if (price.model === 'percentage' && aggregation !== 'sum') {
    return {
      param: 'meterKey',
      reason: `must be a sum meter for a percentage; its aggregation is ${aggregation}`,
    };
  }
  if (price.model !== 'per_unit' || !price.unitAmounts) return undefined;
  if (aggregation === 'sum' || aggregation === 'count') return undefined;
  const reason = `is only for sum and count meters; the aggregation of ${price.meterKey} is ${aggregation}`;
  return { param: 'unitAmounts', reason };
}

/** With the keys of their features, which a request may name by id. */
async function withFeatures(
  { db, environment }: RequestContext,
  prices: readonly StoredPrice[],
): Promise<StoredPrice[]> {
  const names = prices.flatMap((price) => (price.model === 'seat' ? [price.featureKey] : []));
  const features = names.length === 0 ? [] : await findFeatures(db, environment, names);
  return prices.map((price, at) => {
    if (price.model !== 'seat') return price;
    const feature = features.find(({ id, key }) => id === price.featureKey || key === price.featureKey);
    const param = `prices.${at}.featureKey`;
    if (!feature)
      throw new Rejected('feature_not_found', `There is no feature ${price.featureKey}.`, { param });
    if (feature.type === 'boolean')
      throwIf({ param: 'featureKey', reason: 'must not be a boolean feature' }, at);
    return { ...price, featureKey: feature.key };
  });
}

function throwIf(fault: PriceFault | undefined, at: number): void {
  if (!fault) return;
  const param = `prices.${at}.${fault.param}`;
  throw new Rejected('invalid_request', `\`${param}\` ${fault.reason}.`, { param });
}
