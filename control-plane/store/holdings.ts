import type { Grant } from '../../schemas/rules/resolve-entitlements.ts';
import type { SubscriptionStatus } from '../../schemas/rules/subscription-status.ts';
import type { Database } from '../request-context.ts';

/** A customer with one of its subscriptions; one without any has a row in which what is not there is null. */
export type HoldingRow = CustomerPart & (SubscriptionPart | Missing<SubscriptionPart>);

interface CustomerPart {
  customerId: string;
  customerStatus: 'active' | 'archived';
  /** Of the workspace. */
  graceDays: number;
}

interface SubscriptionPart {
  subscriptionId: string;
  status: SubscriptionStatus;
  statusSince: Date;
  createdAt: Date;
  canceledAt: Date | null;
  anchor: Date;
  intervalMonths: number | null;
  intervalMs: number | null;
  /** Amounts are decimal text. */
  grants: Grant[];
}

type Missing<Part> = { [Name in keyof Part]: null };

/** Made once in a statement: a condition on the joined feature would read every grant before it drops it. */
const ASKED = `ARRAY (
  SELECT id FROM features WHERE environment = $1 AND (id = ANY ($4) OR meter_key = ANY ($5)))`;

/** As JSON, one array per subscription: a row per grant takes ten times as long to read. */
const GRANT = `json_build_object('featureKey', f.key, 'type', f.type, 'meterKey', f.meter_key,
  'source', g.source, 'quantity', g.quantity, 'enabled', g.enabled, 'amount', g.amount::text,
  'soft', g.soft)`;

/** Whose holdings, and what of them. */
export interface HoldingsQuestion {
  /** Its id or external id. */
  customer: string;
  at: Date;
  /** The grants of these features alone. */
  featureIds: string[];
  /** And those of all features on these meters: any of them gives the meter its period. */
  meterKeys: string[];
}

/**
 * What a customer holds, in one statement, so that all of it is of one moment: every subscription that lived
 * at `at` or lives still, oldest first, with those grants that are asked for. A customer may hold a million
 * of them. Empty when there is no such customer.
 */
export async function readHoldings(
  db: Database,
  environment: string,
  { customer, at, featureIds, meterKeys }: HoldingsQuestion,
): Promise<HoldingRow[]> {
  const { rows } = await db.query<HoldingRow>(
    `SELECT c.id AS "customerId", c.status AS "customerStatus", w.past_due_grace_days AS "graceDays",
            s.id AS "subscriptionId", s.status, s.status_since AS "statusSince", s.created_at AS "createdAt",
            s.canceled_at AS "canceledAt", s.anchor, s.interval_months AS "intervalMonths",
            s.interval_ms AS "intervalMs", given.grants
       FROM customers c
       JOIN environments e ON e.id = c.environment
       JOIN workspaces w ON w.id = e.workspace_id
       LEFT JOIN subscriptions s ON s.customer_id = c.id AND s.environment = c.environment
        AND (s.status NOT IN ('canceled', 'incomplete_expired')
             OR (s.status = 'canceled' AND s.canceled_at > $3 AND least(s.created_at, s.anchor) <= $3))
       LEFT JOIN LATERAL (
            SELECT coalesce(json_agg(${GRANT} ORDER BY g.place, g.source), '[]') AS grants
              FROM (
                   SELECT 0 AS place, 'plan:' || p.key AS source, 1 AS quantity,
                          pe.feature_id, pe.enabled, pe.amount, pe.soft
                     FROM plans p
                     JOIN plan_entitlements pe
                       ON pe.plan_id = p.id AND pe.version = coalesce(s.plan_version, p.version)
                      AND pe.feature_id = ANY (${ASKED})
                    WHERE p.id = s.plan_id AND p.environment = c.environment
                   UNION ALL
                   SELECT 1, 'addon:' || a.key, sa.quantity, ae.feature_id, ae.enabled, ae.amount, ae.soft
                     FROM subscription_addons sa
                     JOIN addons a ON a.id = sa.addon_id AND a.environment = c.environment
                     JOIN addon_entitlements ae ON ae.addon_id = a.id AND ae.feature_id = ANY (${ASKED})
                    WHERE sa.subscription_id = s.id
                   ) g
              JOIN features f ON f.id = g.feature_id
            ) given ON s.id IS NOT NULL
      WHERE c.environment = $1 AND (c.id = $2 OR c.external_id = $2)
      ORDER BY s.created_at, s.id`,
    [environment, customer, at, featureIds, meterKeys],
  );
  return rows;
}
