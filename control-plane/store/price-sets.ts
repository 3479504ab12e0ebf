import type { Price } from '../../domain/rules/rating/price.ts';
import type { Database } from '../http/request-context.ts';
import type { PlanVersion } from './plan-entitlements.ts';

/** As it is stored; `description` is for people. */
export type StoredPrice = Price & { description?: string };

/** The prices of a version of a plan, or of an add-on, from a time on, with the key of either. */
export interface PriceSetRow {
  ownerId: string;
  ownerKey: string;
  /** Of a plan. */
  version: number | null;
  startsAt: Date;
  prices: StoredPrice[];
}

/** All of these plans and add-ons, in the order of time and versions. */
export async function listPriceSets(
  db: Database,
  environment: string,
  { planIds, addonIds }: { planIds: readonly string[]; addonIds: readonly string[] },
): Promise<PriceSetRow[]> {
  const { rows } = await db.query<PriceSetRow>(
    `SELECT plan.id AS "ownerId", plan.key AS "ownerKey", plan_prices.version, starts_at AS "startsAt", prices
       FROM plan_prices JOIN plans plan ON plan.id = plan_id
      WHERE plan_id = ANY ($2) AND plan.environment = $1
     UNION ALL
     SELECT addon.id, addon.key, NULL, starts_at, prices
       FROM addon_prices JOIN addons addon ON addon.id = addon_id
      WHERE addon_id = ANY ($3) AND addon.environment = $1
      ORDER BY 4, 3`,
    [environment, planIds, addonIds],
  );
  return rows;
}

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

/** Of one version of each. */
export function pricesByPlan(
  sets: ReadonlyArray<{ planId: string; prices: StoredPrice[] }>,
): Map<string, StoredPrice[]> {
  return new Map(sets.map(({ planId, prices }) => [planId, prices]));
}

/**
 * From `nowMs` on, but not before the last change of the plan: a request's time is taken before it waits for
 * the lock, and clocks differ. A version that nothing was ever subscribed to has its prices from the start: a
 * subscription may begin in the past. The plan is locked.
 */
export async function putPlanPrices(
  db: Database,
  version: PlanVersion,
  set: { prices: readonly StoredPrice[]; nowMs: number },
): Promise<void> {
  if (await wasSubscribed(db, version)) return insertPlanPrices(db, version, set);
  await deletePlanPrices(db, version);
  await insertPlanPrices(db, version, { ...set, nowMs: 0 });
}

async function wasSubscribed(db: Database, { planId, version }: PlanVersion): Promise<boolean> {
  const { rows } = await db.query<{ was: boolean }>(
    `SELECT EXISTS (SELECT FROM subscription_terms
                     WHERE plan_id = $1 AND (plan_version IS NULL OR plan_version = $2))
         OR EXISTS (SELECT FROM subscriptions
                     WHERE plan_id = $1 AND (plan_version IS NULL OR plan_version = $2)) AS was`,
    [planId, version],
  );
  return rows[0]?.was === true;
}

async function deletePlanPrices(db: Database, { planId, version }: PlanVersion): Promise<void> {
  await db.query('DELETE FROM plan_prices WHERE plan_id = $1 AND version = $2', [planId, version]);
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

/** As {@link putPlanPrices}. */
export async function putAddonPrices(
  db: Database,
  addonId: string,
  set: { prices: readonly StoredPrice[]; nowMs: number },
): Promise<void> {
  if (await wasAttached(db, addonId)) return insertAddonPrices(db, addonId, set);
  await db.query('DELETE FROM addon_prices WHERE addon_id = $1', [addonId]);
  await insertAddonPrices(db, addonId, { ...set, nowMs: 0 });
}

async function wasAttached(db: Database, addonId: string): Promise<boolean> {
  const { rows } = await db.query<{ was: boolean }>(
    `SELECT EXISTS (SELECT FROM subscription_addons WHERE addon_id = $1)
         OR EXISTS (SELECT FROM subscription_terms
                     WHERE addons @> jsonb_build_array(jsonb_build_object('addonId', $1::text))) AS was`,
    [addonId],
  );
  return rows[0]?.was === true;
}

async function insertAddonPrices(
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
