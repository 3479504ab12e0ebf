import type { Database } from '../http/request-context.ts';

/** What a price of the processor maps to here: a plan, an add-on, or both. */
export interface MappedPrice {
  priceId: string;
  planId: string | null;
  addonId: string | null;
}

export async function findMappedPrices(
  db: Database,
  environment: string,
  priceIds: readonly string[],
): Promise<MappedPrice[]> {
  const { rows } = await db.query<MappedPrice>(
    `SELECT price_id AS "priceId", max(plan_id) AS "planId", max(addon_id) AS "addonId"
       FROM processor_prices WHERE environment = $1 AND price_id = ANY ($2) GROUP BY price_id`,
    [environment, priceIds],
  );
  return rows;
}

/** As a column of `plans`, and of `addons`. */
export const PLAN_PRICES = pricesOf('plan_id = plans.id');
export const ADDON_PRICES = pricesOf('addon_id = addons.id');

function pricesOf(condition: string): string {
  return `ARRAY(SELECT price_id FROM processor_prices WHERE ${condition} ORDER BY price_id COLLATE "C")
    AS "processorPriceIds"`;
}

/** The owner of these prices: one row of its table, read under its environment in this transaction. */
export type PriceOwner = { planId: string } | { addonId: string };

/** Raises a unique violation when another plan, or another add-on, has one of them. */
export async function replacePrices(
  db: Database,
  environment: string,
  owner: PriceOwner,
  priceIds: readonly string[],
): Promise<void> {
  const [column, id] = 'planId' in owner ? ['plan_id', owner.planId] : ['addon_id', owner.addonId];
  await db.query(`DELETE FROM processor_prices WHERE environment = $1 AND ${column} = $2`, [environment, id]);
  await db.query(
    `INSERT INTO processor_prices (environment, ${column}, price_id)
     SELECT $1, $2, price_id FROM unnest($3::text[]) AS price_id`,
    [environment, id, priceIds],
  );
}
