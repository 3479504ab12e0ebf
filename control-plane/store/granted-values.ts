import type { NotifiedValues } from '../../domain/rules/entitlement-changes.ts';
import { rowsBy } from '../../domain/store/rows-by.ts';
import type { Database } from '../http/request-context.ts';

/** The entitlements of one customer at its time, as they are notified. */
export interface GrantedValues {
  customerId: string;
  granted: NotifiedValues;
  /** When time alone may change it next. */
  nextTurn: Date | null;
}

/** `$2` and `$3` name the customers, each with its time. */
const GRANTED = `WITH requested AS (
     SELECT c.id, named.at, w.past_due_grace_days * interval '24 hours' AS grace
       FROM unnest($2::text[], $3::timestamptz[]) AS named (id, at)
       JOIN ${rowsBy('customers', 'id', 'named.id')} c ON c.environment = $1 AND c.status = 'active'
       JOIN environments e ON e.id = c.environment
       JOIN workspaces w ON w.id = e.workspace_id),
   living AS (
     SELECT requested.id AS customer_id, s.id, s.plan_id, s.plan_version, s.starts_at, requested.at,
            CASE s.status WHEN 'past_due' THEN s.status_since + requested.grace END AS ends
       FROM requested
       JOIN ${rowsBy('subscriptions', 'customer_id', 'requested.id')} s
         ON s.environment = $1 AND s.status IN ('trialing', 'active', 'past_due')),
   counted AS (SELECT * FROM living WHERE starts_at <= at AND (ends IS NULL OR at < ends)),
   in_force AS (
     SELECT requested.id AS customer_id, o.feature_id, o.enabled, o.amount, o.expires_at AS ends
       FROM requested JOIN ${rowsBy('overrides', 'customer_id', 'requested.id')} o ON o.environment = $1
      WHERE o.expires_at IS NULL OR requested.at < o.expires_at),
   given AS (
     SELECT p.customer_id, pe.feature_id, pe.enabled, pe.amount, pe.soft, p.times
       FROM (SELECT counted.customer_id, plans.id, coalesce(counted.plan_version, plans.version) AS version,
                    count(*) AS times
               FROM counted JOIN ${rowsBy('plans', 'id', 'counted.plan_id')} plans ON plans.environment = $1
              GROUP BY 1, 2, 3) p
       JOIN plan_entitlements pe ON pe.plan_id = p.id AND pe.version = p.version
     UNION ALL
     SELECT a.customer_id, ae.feature_id, ae.enabled, ae.amount, ae.soft, a.times
       FROM (SELECT counted.customer_id, addons.id, sum(sa.quantity) AS times
               FROM counted
               JOIN subscription_addons sa ON sa.subscription_id = counted.id
               JOIN ${rowsBy('addons', 'id', 'sa.addon_id')} addons ON addons.environment = $1
              GROUP BY 1, 2) a
       JOIN addon_entitlements ae ON ae.addon_id = a.id),
   resolved AS (
     SELECT customer_id, feature_id, bool_or(enabled) AS enabled, bool_or(soft) AS soft,
            CASE WHEN bool_and(amount IS NOT NULL) THEN sum(amount * times) END AS amount
       FROM given
      WHERE (customer_id, feature_id) NOT IN (SELECT customer_id, feature_id FROM in_force)
      GROUP BY customer_id, feature_id
     UNION ALL
     SELECT customer_id, feature_id, enabled, false, amount FROM in_force),
   notified AS (
     SELECT r.customer_id,
            jsonb_object_agg(f.key, CASE f.type WHEN 'boolean' THEN to_jsonb(true)
                                                ELSE to_jsonb(trim_scale(r.amount)::text) END) AS granted
       FROM resolved r JOIN features f ON f.id = r.feature_id
      WHERE CASE f.type WHEN 'boolean' THEN r.enabled ELSE r.amount IS NULL OR r.amount > 0 OR r.soft END
      GROUP BY r.customer_id),
   turns AS (
     SELECT customer_id, min(turn) AS next_turn
       FROM (SELECT customer_id, ends FROM counted
             UNION ALL SELECT customer_id, ends FROM in_force
             UNION ALL SELECT customer_id, starts_at FROM living WHERE at < starts_at)
            AS turning (customer_id, turn)
      GROUP BY customer_id)
   SELECT requested.id AS "customerId", coalesce(notified.granted, '{}') AS granted,
          turns.next_turn AS "nextTurn"
     FROM requested
     LEFT JOIN notified ON notified.customer_id = requested.id
     LEFT JOIN turns ON turns.customer_id = requested.id`;

/**
 * For customers, each at its own time; archived ones are left out. The rules are those of
 * domain/rules/resolve-entitlements.ts and entitlement-changes.ts, written a second time: a customer may have
 * a million grants, and Postgres adds them up in less time than it takes to send them. What the subscriptions
 * of a customer have in common is read once.
 */
export async function readGrantedValues(
  db: Database,
  environment: string,
  requested: ReadonlyArray<{ customerId: string; at: Date }>,
): Promise<GrantedValues[]> {
  const { rows } = await db.query<GrantedValues>(GRANTED, [
    environment,
    requested.map(({ customerId }) => customerId),
    requested.map(({ at }) => at),
  ]);
  return rows;
}
