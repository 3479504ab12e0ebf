import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { ENTITLEMENT_VALUE_COLUMNS, type EntitlementValueRow, valueArrays } from './entitlement-values.ts';
import { ADDON_PRICES } from './processor-prices.ts';
import { type List, readPage } from './read-page.ts';

export interface AddonRow {
  id: string;
  key: string;
  name: string;
  /** Ids of the payment processor; rows of a separate table. */
  processorPriceIds: string[];
  createdAt: Date;
  updatedAt: Date;
}

const COLUMNS = `id, key, name, ${ADDON_PRICES}, created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Undefined when another add-on of the environment has the key. */
export async function insertAddon(
  db: Database,
  environment: string,
  { id, key, name, createdAt }: Omit<AddonRow, 'processorPriceIds' | 'updatedAt'>,
): Promise<AddonRow | undefined> {
  const { rows } = await db.query<AddonRow>(
    `INSERT INTO addons (id, environment, key, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)
     ON CONFLICT (environment, key) DO NOTHING
     RETURNING ${COLUMNS}`,
    [id, environment, key, name, createdAt],
  );
  return rows[0];
}

/** By id or key; no key looks like an id. */
export async function findAddon(
  db: Database,
  environment: string,
  name: string,
): Promise<AddonRow | undefined> {
  const { rows } = await db.query<AddonRow>(
    `SELECT ${COLUMNS} FROM addons WHERE environment = $1 AND (id = $2 OR key = $2)`,
    [environment, name],
  );
  return rows[0];
}

export function listAddons(db: Database, environment: string, query: PageQuery) {
  return readPage<AddonRow>(db, addonList(environment), query);
}

export function addonList(environment: string): List {
  return { columns: COLUMNS, from: 'addons', where: 'environment = $1', values: [environment] };
}

/** The catalogue is locked. */
export async function updateAddon(
  db: Database,
  environment: string,
  { id, name, updatedAt }: Pick<AddonRow, 'id' | 'name' | 'updatedAt'>,
): Promise<AddonRow | undefined> {
  const { rows } = await db.query<AddonRow>(
    `UPDATE addons SET name = $3, updated_at = $4 WHERE environment = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [environment, id, name, updatedAt],
  );
  return rows[0];
}

export async function touchAddon(
  db: Database,
  environment: string,
  { id, updatedAt }: Pick<AddonRow, 'id' | 'updatedAt'>,
): Promise<void> {
  await db.query('UPDATE addons SET updated_at = $3 WHERE environment = $1 AND id = $2', [
    environment,
    id,
    updatedAt,
  ]);
}

export async function listAddonEntitlements(
  db: Database,
  environment: string,
  addonId: string,
): Promise<EntitlementValueRow[]> {
  const { rows } = await db.query<EntitlementValueRow>(
    `SELECT ${ENTITLEMENT_VALUE_COLUMNS}
       FROM addon_entitlements given JOIN features feature ON feature.id = given.feature_id
      WHERE feature.environment = $1 AND given.addon_id = $2`,
    [environment, addonId],
  );
  return rows;
}

/** `addonId` was read under its environment in this transaction, as below. */
export async function deleteAddonEntitlements(db: Database, addonId: string): Promise<void> {
  await db.query('DELETE FROM addon_entitlements WHERE addon_id = $1', [addonId]);
}

export async function insertAddonEntitlements(
  db: Database,
  addonId: string,
  rows: readonly EntitlementValueRow[],
): Promise<void> {
  await db.query(
    `INSERT INTO addon_entitlements (addon_id, feature_id, enabled, amount, soft, resets)
     SELECT $1, new.feature_id, new.enabled, new.amount, new.soft, new.resets
       FROM unnest($2::text[], $3::boolean[], $4::numeric[], $5::boolean[], $6::text[])
         AS new (feature_id, enabled, amount, soft, resets)`,
    [addonId, ...valueArrays(rows)],
  );
}
