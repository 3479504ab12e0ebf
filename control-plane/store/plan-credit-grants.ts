import type { RecurringGrant, RecurringGrantSet } from '../../domain/rules/recurring-credits.ts';
import type { Database } from '../http/request-context.ts';
import type { PlanVersion } from './plan-entitlements.ts';

/** `planId` was read under its environment in this transaction, as below. */
export async function findPlanCreditGrants(
  db: Database,
  { planId, version }: PlanVersion,
): Promise<RecurringGrant[]> {
  const { rows } = await db.query<{ grants: RecurringGrant[] }>(
    `SELECT grants FROM plan_credit_grants WHERE plan_id = $1 AND version = $2
      ORDER BY starts_at DESC LIMIT 1`,
    [planId, version],
  );
  return rows[0]?.grants ?? [];
}

/** From `nowMs` on, but not before the last change of the plan, as its prices. The plan is locked. */
export async function insertPlanCreditGrants(
  db: Database,
  { planId, version }: PlanVersion,
  { creditGrants, nowMs }: { creditGrants: readonly RecurringGrant[]; nowMs: number },
): Promise<void> {
  await db.query(
    `INSERT INTO plan_credit_grants (plan_id, version, starts_at, grants)
     SELECT $1, $2, greatest($3::timestamptz, max(starts_at)), $4
       FROM plan_credit_grants WHERE plan_id = $1
     ON CONFLICT (plan_id, version, starts_at) DO UPDATE SET grants = excluded.grants`,
    [planId, version, new Date(nowMs), JSON.stringify(creditGrants)],
  );
}

/** All that these plans ever granted. */
export async function listCreditGrantSets(
  db: Database,
  planIds: readonly string[],
): Promise<RecurringGrantSet[]> {
  const { rows } = await db.query<Omit<RecurringGrantSet, 'startsMs'> & { startsAt: Date }>(
    `SELECT plan_id AS "planId", version, starts_at AS "startsAt", grants
       FROM plan_credit_grants WHERE plan_id = ANY ($1)`,
    [planIds],
  );
  return rows.map(({ startsAt, ...set }) => ({ ...set, startsMs: startsAt.getTime() }));
}
