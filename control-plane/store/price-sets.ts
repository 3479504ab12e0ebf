import type { Price } from '../../domain/rules/rating/price.ts';
import type { Database } from '../http/request-context.ts';
import type { PlanVersion } from './plan-entitlements.ts';

/** As it is stored; `description` is for people. */
export type StoredPrice = Price & { description?: string };

/** `planId` was read under its environment in this transaction, as below. */
export async function findPlanPrices(db: Database, { planId, version }: PlanVersion): Promise<StoredPrice[]> {
  const { rows } = await db.query<{ prices: StoredPrice[] }>(
    `SELECT prices FROM plan_prices WHERE plan_id = $1 AND version = $2 ORDER BY starts_at DESC LIMIT 1`,
    [planId, version],
  );
  return rows[0]?.prices ?? [];
}

/** By plan; the plans were read under their environment. */
export async function listPricesOfPlans(
  db: Database,
  versions: readonly PlanVersion[],
): Promise<Map<string, StoredPrice[]>> {
  const { rows } = await db.query<{ planId: string; prices: StoredPrice[] }>(
    `SELECT DISTINCT ON (plan_id) plan_id AS "planId", prices
       FROM unnest($1::text[], $2::integer[]) AS named (id, current)
       JOIN plan_prices ON plan_id = named.id AND version = named.current
      ORDER BY plan_id, starts_at DESC`,
    [versions.map(({ planId }) => planId), versions.map(({ version }) => version)],
  );
  return new Map(rows.map(({ planId, prices }) => [planId, prices]));
}

/**
 * From `nowMs` on, but not before the last change of the plan: a request's time is taken before it waits for
 * the lock, and clocks differ. Of a version that nothing was ever subscribed to no usage has a price: its
 * prices are replaced as if they had been these from the start. The plan is locked.
 */
export async function putPlanPrices(
  db: Database,
  version: PlanVersion,
  set: { prices: readonly StoredPrice[]; nowMs: number },
): Promise<void> {
  if (!(await replaceUnusedPrices(db, version, set.prices))) await insertPlanPrices(db, version, set);
}

/** False where the version has no prices yet, or a subscription had them at any time. */
async function replaceUnusedPrices(
  db: Database,
  { planId, version }: PlanVersion,
  prices: readonly StoredPrice[],
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE plan_prices SET prices = $3 WHERE plan_id = $1 AND version = $2
        AND NOT EXISTS (SELECT FROM subscription_terms
                         WHERE plan_id = $1 AND (plan_version IS NULL OR plan_version = $2))
        AND NOT EXISTS (SELECT FROM subscriptions
                         WHERE plan_id = $1 AND (plan_version IS NULL OR plan_version = $2))`,
    [planId, version, JSON.stringify(prices)],
  );
  return (rowCount ?? 0) > 0;
}

async function insertPlanPrices(
  db: Database,
  { planId, version }: PlanVersion,
  { prices, nowMs }: { prices: readonly StoredPrice[]; nowMs: number },
): Promise<void> {
  await db.query(
    `INSERT INTO plan_prices (plan_id, version, starts_at, prices)
     SELECT $1, $2, greatest($3::timestamptz, max(starts_at)), $4 FROM plan_prices WHERE plan_id = $1
     ON CONFLICT (plan_id, version, starts_at) DO UPDATE SET prices = excluded.prices`,
    [planId, version, new Date(nowMs), JSON.stringify(prices)],
  );
}

/** `addonId` was read under its environment in this transaction, as below. */
export async function findAddonPrices(db: Database, addonId: string): Promise<StoredPrice[]> {
  const { rows } = await db.query<{ prices: StoredPrice[] }>(
    'SELECT prices FROM addon_prices WHERE addon_id = $1 ORDER BY starts_at DESC LIMIT 1',
    [addonId],
  );
  return rows[0]?.prices ?? [];
}

/** From then on, as {@link putPlanPrices}. */
export async function insertAddonPrices(
  db: Database,
  addonId: string,
  { prices, nowMs }: { prices: readonly StoredPrice[]; nowMs: number },
): Promise<void> {
  await db.query(
    `INSERT INTO addon_prices (addon_id, starts_at, prices)
     SELECT $1, greatest($2::timestamptz, max(starts_at)), $3 FROM addon_prices WHERE addon_id = $1
     ON CONFLICT (addon_id, starts_at) DO UPDATE SET prices = excluded.prices`,
    [addonId, new Date(nowMs), JSON.stringify(prices)],
  );
}
