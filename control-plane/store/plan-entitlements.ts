import type { Database } from '../http/request-context.ts';
import { ENTITLEMENT_VALUE_COLUMNS, type EntitlementValueRow, valueArrays } from './entitlement-values.ts';

/** One version of a plan. It is written once, except that of a draft to which nothing is pinned. */
export interface PlanVersion {
  planId: string;
  version: number;
}

export async function listPlanEntitlements(
  db: Database,
  environment: string,
  { planId, version }: PlanVersion,
): Promise<EntitlementValueRow[]> {
  const { rows } = await db.query<EntitlementValueRow>(
    `SELECT ${ENTITLEMENT_VALUE_COLUMNS}
       FROM plan_entitlements given JOIN features feature ON feature.id = given.feature_id
      WHERE feature.environment = $1 AND given.plan_id = $2 AND given.version = $3`,
    [environment, planId, version],
  );
  return rows;
}

export interface OfferedValueRow extends EntitlementValueRow, PlanVersion {
  featureName: string;
  /** Of the meter of a metered feature. */
  unit: string | null;
}

/** Of several plans, each in its version, by the name of the feature. */
export async function listOfferedEntitlements(
  db: Database,
  environment: string,
  versions: readonly PlanVersion[],
): Promise<OfferedValueRow[]> {
  const { rows } = await db.query<OfferedValueRow>(
    `SELECT given.plan_id AS "planId", given.version, ${ENTITLEMENT_VALUE_COLUMNS},
            feature.name AS "featureName", meter.unit
       FROM unnest($2::text[], $3::integer[]) AS named (id, current)
       JOIN plan_entitlements given ON given.plan_id = named.id AND given.version = named.current
       JOIN features feature ON feature.id = given.feature_id AND feature.environment = $1
       LEFT JOIN meters meter ON meter.environment = $1 AND meter.key = feature.meter_key
      ORDER BY feature.name, feature.key`,
    [environment, versions.map(({ planId }) => planId), versions.map(({ version }) => version)],
  );
  return rows;
}

/** `planId` was read under its environment in this transaction, as below. */
export async function deletePlanEntitlements(db: Database, { planId, version }: PlanVersion): Promise<void> {
  await db.query('DELETE FROM plan_entitlements WHERE plan_id = $1 AND version = $2', [planId, version]);
}

export async function insertPlanEntitlements(
  db: Database,
  { planId, version }: PlanVersion,
  rows: readonly EntitlementValueRow[],
): Promise<void> {
  await db.query(
    `INSERT INTO plan_entitlements (plan_id, version, feature_id, enabled, amount, soft, resets)
     SELECT $1, $2, new.feature_id, new.enabled, new.amount, new.soft, new.resets
       FROM unnest($3::text[], $4::boolean[], $5::numeric[], $6::boolean[], $7::text[])
         AS new (feature_id, enabled, amount, soft, resets)`,
    [planId, version, ...valueArrays(rows)],
  );
}

export async function copyPlanEntitlements(
  db: Database,
  planId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await db.query(
    `INSERT INTO plan_entitlements (plan_id, version, feature_id, enabled, amount, soft, resets)
     SELECT plan_id, $3, feature_id, enabled, amount, soft, resets
       FROM plan_entitlements WHERE plan_id = $1 AND version = $2`,
    [planId, from, to],
  );
}
