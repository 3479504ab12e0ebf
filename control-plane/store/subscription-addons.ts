import type { Database } from '../http/request-context.ts';

/** Sets the quantity of an add-on, attached already or not. The subscription is locked. */
export async function putSubscriptionAddon(
  db: Database,
  subscriptionId: string,
  { addonId, quantity }: { addonId: string; quantity: number },
): Promise<void> {
  await db.query(
    `INSERT INTO subscription_addons (subscription_id, addon_id, quantity) VALUES ($1, $2, $3)
     ON CONFLICT (subscription_id, addon_id) DO UPDATE SET quantity = excluded.quantity`,
    [subscriptionId, addonId, quantity],
  );
}

/** The same for the processor, which may then remove it again. */
export async function putProcessorAddon(
  db: Database,
  subscriptionId: string,
  { addonId, quantity }: { addonId: string; quantity: number },
): Promise<void> {
  await db.query(
    `INSERT INTO subscription_addons (subscription_id, addon_id, quantity, from_processor)
     VALUES ($1, $2, $3, true)
     ON CONFLICT (subscription_id, addon_id) DO UPDATE
       SET quantity = excluded.quantity, from_processor = true`,
    [subscriptionId, addonId, quantity],
  );
}

/** Ids of the add-ons that the processor attached. The subscription is locked. */
export async function findProcessorAddons(db: Database, subscriptionId: string): Promise<string[]> {
  const { rows } = await db.query<{ addonId: string }>(
    `SELECT addon_id AS "addonId" FROM subscription_addons WHERE subscription_id = $1 AND from_processor`,
    [subscriptionId],
  );
  return rows.map(({ addonId }) => addonId);
}

/** False when it is not attached. The subscription is locked. */
export async function deleteSubscriptionAddon(
  db: Database,
  subscriptionId: string,
  addonId: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    'DELETE FROM subscription_addons WHERE subscription_id = $1 AND addon_id = $2',
    [subscriptionId, addonId],
  );
  return rowCount === 1;
}

/** The id of the add-on with this id or key. */
export async function findAddonId(
  db: Database,
  environment: string,
  name: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM addons WHERE environment = $1 AND (id = $2 OR key = $2) ORDER BY (id = $2) DESC LIMIT 1`,
    [environment, name],
  );
  return rows[0]?.id;
}
