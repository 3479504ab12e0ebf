import type { Database } from '../http/request-context.ts';

/** The plan of one subscription that has not ended. */
export interface SubscribedPlanRow {
  id: string;
  productId: string;
  position: number | null;
  createdAt: Date;
  /** Of the subscription. */
  version: number;
  hasBegun: boolean;
  pendingPlanId: string | null;
}

/** A subscription that was never completed is none. At most as many as a customer may have. */
export async function listSubscribedPlans(
  db: Database,
  environment: string,
  { customerId, now }: { customerId: string; now: Date },
): Promise<SubscribedPlanRow[]> {
  const { rows } = await db.query<SubscribedPlanRow>(
    `SELECT plans.id, plans.product_id AS "productId", plans.position, plans.created_at AS "createdAt",
            coalesce(plan_version, plans.version) AS version, starts_at <= $3 AS "hasBegun",
            pending_plan_id AS "pendingPlanId"
       FROM subscriptions JOIN plans ON plans.id = plan_id
      WHERE subscriptions.environment = $1 AND customer_id = $2
        AND subscriptions.status NOT IN ('incomplete', 'incomplete_expired', 'canceled')`,
    [environment, customerId, now],
  );
  return rows;
}
