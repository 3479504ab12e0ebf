import { Rejected } from '../../schemas/failures.ts';
import { exactNumber, parseExact } from '../../schemas/primitives/exact-json.ts';
import type { GivenEntitlements } from '../../schemas/resources/entitlement-values.ts';
import type { Resets } from '../../schemas/value-sets.ts';
import type { RequestContext } from '../http/request-context.ts';
import type { EntitlementValueRow } from '../store/entitlement-values.ts';
import { type FeatureRow, findFeatures } from '../store/features.ts';
import { readDecimal } from './read-decimal.ts';

/** One entry of the checked body, with its number as marked text. */
interface Given {
  featureKey: string;
  value: unknown;
  soft?: boolean;
  resets?: Resets | null;
}

/**
 * The `entitlements` of a checked body, with numbers from the body's own text. Throws Rejected: an
 * unknown feature (404), a feature twice or a value that does not suit its type (400), too many digits (422).
 */
export async function readEntitlementValues(
  { db, environment }: RequestContext,
  bodyText: string,
): Promise<EntitlementValueRow[]> {
  const { entitlements } = parseExact(bodyText) as { entitlements: Given[] };
  const names = entitlements.map(({ featureKey }) => featureKey);
  const features = await findFeatures(db, environment, names);
  const byName = new Map(features.flatMap((one) => [[one.key, one] as const, [one.id, one] as const]));
  const seen = new Set<string>();
  return entitlements.map((given, at) => {
    const place = `entitlements.${at}`;
    const feature = byName.get(given.featureKey) ?? noFeature(given.featureKey, place);
    if (seen.has(feature.id))
      throw invalid(`${place}.featureKey`, 'repeats a feature; each feature can occur once');
    seen.add(feature.id);
    return rowOf(feature, given, place);
  });
}

/** In the order of the response: one order for each set, so that two can be compared. */
export function shownEntitlements(rows: readonly EntitlementValueRow[]): GivenEntitlements {
  const inOrder = rows.toSorted((a, b) => (a.featureKey < b.featureKey ? -1 : 1));
  return inOrder.map(shownEntitlement);
}

export function shownEntitlement(row: EntitlementValueRow): GivenEntitlements[number] {
  const { featureKey, type, enabled, amount, soft, resets } = row;
  const value = type === 'boolean' ? enabled : amount === null ? null : exactNumber(amount);
  return { featureKey, type, value, soft, ...(resets === null ? {} : { resets }) };
}

/** The value of a feature from `parseExact`. Throws Rejected, which names the field. */
export function readFeatureValue(
  { key, type }: Pick<FeatureRow, 'key' | 'type'>,
  value: unknown,
  param: string,
): Pick<EntitlementValueRow, 'enabled' | 'amount'> {
  if (type === 'boolean') {
    if (typeof value !== 'boolean') throw invalid(param, `must be true or false for ${key}`);
    return { enabled: value, amount: null };
  }
  if (typeof value === 'boolean') throw invalid(param, `must be a number or null for ${key}`);
  return { enabled: null, amount: value === null ? null : readDecimal(value, param) };
}

function rowOf(feature: FeatureRow, given: Given, place: string): EntitlementValueRow {
  const { id: featureId, key: featureKey, type } = feature;
  const { value, soft = false } = given;
  const read = readFeatureValue(feature, value, `${place}.value`);
  if (type === 'boolean' && soft) throw invalid(`${place}.soft`, 'is not allowed for a boolean feature');
  return { featureId, featureKey, type, ...read, soft, resets: readResets(feature, given, place) };
}

/** Null: not said. Throws Rejected for a feature that counts nothing. */
export function readResets(
  { key, type }: Pick<FeatureRow, 'key' | 'type'>,
  { resets }: Pick<Given, 'resets'>,
  place?: string,
): Resets | null {
  if (resets == null || type === 'metered') return resets ?? null;
  const param = place === undefined ? 'resets' : `${place}.resets`;
  throw invalid(param, `is only for metered features; ${key} is a ${type} feature`);
}

function invalid(param: string, reason: string): Rejected {
  return new Rejected('invalid_request', `\`${param}\` ${reason}.`, { param });
}

function noFeature(name: string, place: string): never {
  throw new Rejected('feature_not_found', `There is no feature ${name}.`, { param: `${place}.featureKey` });
}
