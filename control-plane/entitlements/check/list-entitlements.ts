import { findCustomerGrants, NO_GRANTS } from '../../../domain/find-customer-grants.ts';
import { contributionsTo, type SourceGrant } from '../../../domain/rules/contributions.ts';
import {
  counts,
  type EffectiveEntitlement,
  type HeldOverride,
  resolveEntitlements,
} from '../../../domain/rules/resolve-entitlements.ts';
import { decimalUnits, unitsText } from '../../../schemas/primitives/decimal.ts';
import type { RequestContext } from '../../http/request-context.ts';
import { type GrantedFeatureRow, readGrantedFeatures } from '../../store/granted-features.ts';
import { readCustomerOverrides } from '../../store/overrides.ts';
import type { CustomerGrantsReads } from '../cache/customer-grants-reads.ts';

/** One feature of a customer. */
export interface ListedEntitlement
  extends Pick<EffectiveEntitlement, 'type' | 'value' | 'resets' | 'sources' | 'contributions'> {
  featureKey: string;
}

/** By key; undefined when there is no such customer. */
export function listEntitlements(
  context: RequestContext,
  customerGrantsReads: CustomerGrantsReads,
  customer: string,
): Promise<ListedEntitlement[] | undefined> {
  const { environment, nowMs } = context;
  return customerGrantsReads(context, async (db) => {
    const found = await findCustomerGrants(db, { environment, customer, atMs: nowMs, ...NO_GRANTS });
    if (!found) return undefined;
    if (found.isArchived) return [];
    const { graceMs, subscriptions } = found.customerGrants;
    const counting = subscriptions.filter((one) => counts(one, graceMs, nowMs));
    const ids = counting.map(({ id }) => id);
    const byKey = new Map<string, ListedEntitlement>();
    for (const row of await readGrantedFeatures(db, environment, ids)) byKey.set(row.featureKey, listed(row));
    const overrides = await readCustomerOverrides(db, environment, found.customerId);
    for (const one of inPlace(overrides, nowMs)) {
      const resets = replacedResets(one, overrides, byKey.get(one.featureKey));
      byKey.set(one.featureKey, { ...one, resets });
    }
    return [...byKey.values()].sort((a, b) => (a.featureKey < b.featureKey ? -1 : 1));
  });
}

/** An override that does not say it resets as what it replaces. */
function replacedResets(
  { featureKey, resets }: ListedEntitlement,
  overrides: readonly HeldOverride[],
  replaced: ListedEntitlement | undefined,
): ListedEntitlement['resets'] {
  const own = overrides.find((one) => one.featureKey === featureKey)?.resets ?? null;
  return own === null ? replaced?.resets : resets;
}

function listed({ featureKey, type, enabled, amount, ...given }: GrantedFeatureRow): ListedEntitlement {
  const isFlag = type === 'boolean';
  const value = isFlag ? enabled === true : amount && unitsText(decimalUnits(amount));
  const contributions = contributionsTo(value, grantsOf(isFlag, given));
  const giving = isFlag ? given.sources.filter((_, at) => given.values[at] === String(value)) : given.sources;
  const resets = given.resets === null || given.resets === 'billing_period' ? undefined : given.resets;
  return { featureKey, type, value, resets, sources: [...new Set(giving)], contributions };
}

function grantsOf(
  isFlag: boolean,
  { sources, values, quantities }: Pick<GrantedFeatureRow, 'sources' | 'values' | 'quantities'>,
): SourceGrant[] {
  return sources.map((source, at) => {
    const [value = null, quantity = 1] = [values[at], quantities[at]];
    return { source, quantity, enabled: isFlag ? value === 'true' : null, amount: isFlag ? null : value };
  });
}

function inPlace(overrides: HeldOverride[], nowMs: number): ListedEntitlement[] {
  const { features } = resolveEntitlements({ graceMs: 0, subscriptions: [], overrides }, nowMs);
  return [...features].map(([featureKey, one]) => ({ featureKey, ...one }));
}
