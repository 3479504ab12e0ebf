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

/** Of the versions that have prices; the plans were read under their environment. */
export async function listPricesOfPlans(
  db: Database,
  versions: readonly PlanVersion[],
): Promise<Array<PlanVersion & { prices: StoredPrice[] }>> {
  const { rows } = await db.query<PlanVersion & { prices: StoredPrice[] }>(
    `SELECT DISTINCT ON (plan_id, version) plan_id AS "planId", version, prices
       FROM unnest($1::text[], $2::integer[]) AS named (id, current)
       JOIN plan_prices ON plan_id = named.id AND version = named.current
      ORDER BY plan_id, version, starts_at DESC`,
    [versions.map(({ planId }) => planId), versions.map(({ version }) => version)],
  );
  return rows;
}

/**
 * From `nowMs` on, but not before the last change of the plan: a request's time is taken before it waits for
 * the lock, and clocks differ. The plan is locked.
 */
export async function insertPlanPrices(
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

/** As {@link insertPlanPrices}. */
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
