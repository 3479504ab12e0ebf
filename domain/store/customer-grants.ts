import type { Pool, PoolClient } from 'pg';
import type { Interval, SubscriptionStatus } from '../../schemas/value-sets.ts';
import type { Grant, HeldOverride } from '../rules/resolve-entitlements.ts';

import { rowsBy } from './rows-by.ts';

/** A customer with one of its subscriptions; one without any has a row in which what is not there is null. */
export type CustomerGrantsRow = CustomerPart & (SubscriptionPart | Missing<SubscriptionPart>);

interface CustomerPart {
  customerId: string;
  customerStatus: 'active' | 'archived';
  /** Of the workspace. */
  graceDays: number;
  /** On the first row of a customer, and null on its others. */
  overrides: HeldOverride[] | null;
}

interface SubscriptionPart {
  subscriptionId: string;
  status: SubscriptionStatus;
  statusSince: Date;
  createdAt: Date;
  canceledAt: Date | null;
  startsAt: Date;
  periodStart: Date;
  periodEnd: Date;
  anchor: Date;
  interval: Interval;
  intervalCount: number;
  legacyIntervalMs: number | null;
  /** Amounts are decimal text. */
  grants: Grant[];
}

type Missing<Part> = { [Name in keyof Part]: null };

/** Made once in a statement: a condition on the joined feature would read every grant before it drops it. */
const REQUESTED = `ARRAY (
  SELECT id FROM features WHERE environment = $1 AND (id = ANY ($4) OR meter_key = ANY ($5)))`;

/** As JSON, one array per subscription: a row per grant takes ten times as long to read. */
const GRANT = `json_build_object('featureKey', f.key, 'type', f.type, 'meterKey', f.meter_key,
  'source', g.source, 'quantity', g.quantity, 'enabled', g.enabled, 'amount', g.amount::text,
  'soft', g.soft, 'resets', g.resets)`;

const OVERRIDE = `json_build_object('featureKey', f.key, 'type', f.type, 'meterKey', f.meter_key,
  'value', CASE f.type WHEN 'boolean' THEN to_json(o.enabled) ELSE to_json(o.amount::text) END,
  'resets', o.resets, 'expiresAtMs', (extract(epoch FROM o.expires_at) * 1000)::bigint)`;

/** The customers, and which of their grants. */
export interface CustomerGrantsQuestion {
  /** Their ids or external ids. */
  customers: string[];
  at: Date;
  /** Of these features alone. */
  featureIds: string[] | 'all';
  /** And of all features on these meters: any of them gives the meter its period. */
  meterKeys: string[];
}

/**
 * The grants of customers, in one statement, so that all of it is of one time: every subscription that is
 * active, or ended after `at`, oldest first, with the requested grants, and the overrides of the same
 * features, expired ones too. A customer may have a million grants. A customer that does not exist has no
 * row.
 */
export async function readCustomerGrants(
  db: Pool | PoolClient,
  environment: string,
  { customers, at, featureIds, meterKeys }: CustomerGrantsQuestion,
): Promise<CustomerGrantsRow[]> {
  const { rows } = await db.query<CustomerGrantsRow>(
    `SELECT c.id AS "customerId", c.status AS "customerStatus", w.past_due_grace_days AS "graceDays",
            CASE WHEN row_number() OVER (PARTITION BY c.id ORDER BY s.created_at, s.id) = 1 THEN (
              SELECT coalesce(json_agg(${OVERRIDE} ORDER BY f.key), '[]')
                FROM overrides o JOIN features f ON f.id = o.feature_id
               WHERE o.customer_id = c.id AND o.environment = c.environment
                 AND ($6 OR o.feature_id = ANY (${REQUESTED}))) END AS overrides,
            s.id AS "subscriptionId", s.status, s.status_since AS "statusSince", s.created_at AS "createdAt",
            s.canceled_at AS "canceledAt", s.starts_at AS "startsAt", s.current_period_start AS "periodStart",
            s.current_period_end AS "periodEnd", s.anchor, s.interval, s.interval_count AS "intervalCount",
            s.legacy_interval_ms AS "legacyIntervalMs", given.grants
       FROM customers c
       JOIN environments e ON e.id = c.environment
       JOIN workspaces w ON w.id = e.workspace_id
       LEFT JOIN ${rowsBy('subscriptions', 'customer_id', 'c.id')} s ON s.environment = c.environment
        AND (s.status NOT IN ('canceled', 'incomplete_expired')
             OR (s.status = 'canceled' AND s.canceled_at > $3))
       LEFT JOIN LATERAL (
            SELECT coalesce(json_agg(${GRANT} ORDER BY g.place, g.source), '[]') AS grants
              FROM (
                   SELECT 0 AS place, 'plan:' || p.key AS source, 1 AS quantity,
                          pe.feature_id, pe.enabled, pe.amount, pe.soft,
                          pe.resets
                     FROM plans p
                     JOIN plan_entitlements pe
                       ON pe.plan_id = p.id AND pe.version = coalesce(s.plan_version, p.version)
                      AND ($6 OR pe.feature_id = ANY (${REQUESTED}))
                    WHERE p.id = s.plan_id AND p.environment = c.environment
                   UNION ALL
                   SELECT 1, 'addon:' || a.key, sa.quantity, ae.feature_id, ae.enabled, ae.amount, ae.soft,
                          ae.resets
                     FROM subscription_addons sa
                     JOIN ${rowsBy('addons', 'id', 'sa.addon_id')} a ON a.environment = c.environment
                     JOIN addon_entitlements ae
                       ON ae.addon_id = a.id AND ($6 OR ae.feature_id = ANY (${REQUESTED}))
                    WHERE sa.subscription_id = s.id
                   ) g
              JOIN features f ON f.id = g.feature_id
            ) given ON s.id IS NOT NULL
      WHERE c.environment = $1 AND (c.id = ANY ($2) OR c.external_id = ANY ($2))
      ORDER BY c.id, s.created_at, s.id`,
    [environment, customers, at, featureIds === 'all' ? [] : featureIds, meterKeys, featureIds === 'all'],
  );
  return rows;
}
