import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import type { Resets } from '../../schemas/value-sets.ts';

/** What a version of a plan, or an add-on, gives of one feature. */
export interface EntitlementValueRow {
  featureId: string;
  featureKey: string;
  type: FeatureType;
  /** Of a boolean feature; otherwise null. */
  enabled: boolean | null;
  /** Decimal string; null is unlimited, except for a boolean feature. */
  amount: string | null;
  soft: boolean;
  /** Of a metered feature; null: not said. */
  resets: Resets | null;
}

/** From `given`, the entitlements of a plan or an add-on, joined to its `feature`. */
export const ENTITLEMENT_VALUE_COLUMNS = `feature.id AS "featureId", feature.key AS "featureKey",
  feature.type, given.enabled, given.amount, given.soft, given.resets`;

/** Rows as arrays, for `unnest($n::text[], $n::boolean[], $n::numeric[], $n::boolean[], $n::text[])`. */
export function valueArrays(rows: readonly EntitlementValueRow[]): unknown[][] {
  return [
    rows.map(({ featureId }) => featureId),
    rows.map(({ enabled }) => enabled),
    rows.map(({ amount }) => amount),
    rows.map(({ soft }) => soft),
    rows.map(({ resets }) => resets),
  ];
}
