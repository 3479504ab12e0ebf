import { longestSql } from '../../domain/store/longest-sql.ts';
import { rowsBy } from '../../domain/store/rows-by.ts';
import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import type { Resets } from '../../schemas/value-sets.ts';
import type { Database } from '../http/request-context.ts';

/** What some subscriptions give together of one feature. */
export interface GrantedFeatureRow {
  featureKey: string;
  type: FeatureType;
  /** Of a boolean feature: whether any gives it. */
  enabled: boolean | null;
  /** For other types: their sum as a decimal string; null is unlimited. */
  amount: string | null;
  /** In the order of the subscriptions, each plan before the add-ons. A source may occur twice. */
  sources: string[];
  /** The value of each source: `true` or `false`, a decimal string, or null for unlimited. */
  values: Array<string | null>;
  /** How often. */
  quantities: number[];
  /** Of a metered feature; null: none of them says. */
  resets: Resets | null;
}

/**
 * Of the subscriptions with these ids, oldest first. The rules are those of
 * domain/rules/resolve-entitlements.ts, written a second time: a hundred subscriptions with 20 add-ons of 500
 * are a million grants, and Postgres adds them up in less time than it takes to send them. What several
 * subscriptions have in common is read once.
 */
export async function readGrantedFeatures(
  db: Database,
  environment: string,
  subscriptionIds: string[],
): Promise<GrantedFeatureRow[]> {
  const { rows } = await db.query<GrantedFeatureRow>(
    `WITH held AS (
       SELECT s.id, s.plan_id, s.plan_version, named.place
         FROM unnest($2::text[]) WITH ORDINALITY AS named (id, place)
         JOIN ${rowsBy('subscriptions', 'id', 'named.id')} s ON s.environment = $1),
     given AS (
       SELECT 0 AS rank, 'plan:' || p.key AS source, p.place, p.times,
              pe.feature_id, pe.enabled, pe.amount, pe.resets
         FROM (SELECT plans.id, plans.key, coalesce(held.plan_version, plans.version) AS version,
                      min(held.place) AS place, count(*) AS times
                 FROM held JOIN plans ON plans.id = held.plan_id AND plans.environment = $1
                GROUP BY 1, 2, 3) p
         JOIN plan_entitlements pe ON pe.plan_id = p.id AND pe.version = p.version
       UNION ALL
       SELECT 1, 'addon:' || a.key, a.place, a.times, ae.feature_id, ae.enabled, ae.amount,
              ae.resets
         FROM (SELECT addons.id, addons.key, min(held.place) AS place, sum(sa.quantity) AS times
                 FROM held
                 JOIN subscription_addons sa ON sa.subscription_id = held.id
                 JOIN ${rowsBy('addons', 'id', 'sa.addon_id')} addons ON addons.environment = $1
                GROUP BY 1, 2) a
         JOIN addon_entitlements ae ON ae.addon_id = a.id)
     SELECT f.key AS "featureKey", f.type, bool_or(g.enabled) AS enabled,
            ${longestSql('g.resets')} AS resets,
            CASE WHEN bool_and(g.amount IS NOT NULL) THEN sum(g.amount * g.times) END AS amount,
            array_agg(g.source ORDER BY g.place, g.rank, g.source) AS sources,
            array_agg(coalesce(g.enabled::text, g.amount::text) ORDER BY g.place, g.rank, g.source) AS values,
            array_agg(g.times::float8 ORDER BY g.place, g.rank, g.source) AS quantities
       FROM given g JOIN features f ON f.id = g.feature_id
      GROUP BY f.id`,
    [environment, subscriptionIds],
  );
  return rows;
}
