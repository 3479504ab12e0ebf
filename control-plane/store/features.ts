import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';

export interface FeatureRow {
  id: string;
  key: string;
  name: string;
  type: FeatureType;
  /** Of a metered feature. */
  meterKey: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export type FeatureFields = Pick<FeatureRow, 'name' | 'meterKey' | 'updatedAt'>;

const COLUMNS = `id, key, name, type, meter_key AS "meterKey", created_at AS "createdAt",
  updated_at AS "updatedAt"`;

/** Undefined when another feature of the environment has the key. */
export async function insertFeature(
  db: Database,
  environment: string,
  row: Omit<FeatureRow, 'updatedAt'>,
): Promise<FeatureRow | undefined> {
  const { rows } = await db.query<FeatureRow>(
    `INSERT INTO features (id, environment, key, name, type, meter_key, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
     ON CONFLICT (environment, key) DO NOTHING
     RETURNING ${COLUMNS}`,
    [row.id, environment, row.key, row.name, row.type, row.meterKey, row.createdAt],
  );
  return rows[0];
}

/** By key or id; no key looks like an id. */
export async function findFeature(
  db: Database,
  environment: string,
  name: string,
): Promise<FeatureRow | undefined> {
  const { rows } = await db.query<FeatureRow>(
    `SELECT ${COLUMNS} FROM features WHERE environment = $1 AND (key = $2 OR id = $2)`,
    [environment, name],
  );
  return rows[0];
}

/** The features that count a meter, at most so many. */
export async function findFeaturesOfMeter(
  db: Database,
  environment: string,
  meterKey: string,
  limit: number,
): Promise<Array<Pick<FeatureRow, 'key'>>> {
  const { rows } = await db.query<Pick<FeatureRow, 'key'>>(
    'SELECT key FROM features WHERE environment = $1 AND meter_key = $2 ORDER BY key LIMIT $3',
    [environment, meterKey, limit],
  );
  return rows;
}

/** As {@link findFeature}, locked against deletion for the rest of the transaction. */
export async function shareFeature(
  db: Database,
  environment: string,
  name: string,
): Promise<FeatureRow | undefined> {
  const { rows } = await db.query<FeatureRow>(
    `SELECT ${COLUMNS} FROM features WHERE environment = $1 AND (key = $2 OR id = $2) FOR KEY SHARE`,
    [environment, name],
  );
  return rows[0];
}

/** The existing ones among the names, each a key or an id. */
export async function findFeatures(
  db: Database,
  environment: string,
  names: string[],
): Promise<FeatureRow[]> {
  const { rows } = await db.query<FeatureRow>(
    `SELECT ${COLUMNS} FROM features WHERE environment = $1 AND (key = ANY ($2) OR id = ANY ($2))`,
    [environment, names],
  );
  return rows;
}

export async function updateFeature(
  db: Database,
  environment: string,
  { id, name, meterKey, updatedAt }: FeatureFields & Pick<FeatureRow, 'id'>,
): Promise<FeatureRow | undefined> {
  const { rows } = await db.query<FeatureRow>(
    `UPDATE features SET name = $3, meter_key = $4, updated_at = $5 WHERE environment = $1 AND id = $2
     RETURNING ${COLUMNS}`,
    [environment, id, name, meterKey, updatedAt],
  );
  return rows[0];
}

/** With everything that plans, add-ons and overrides give of it. */
export async function deleteFeature(db: Database, environment: string, id: string): Promise<void> {
  await db.query('DELETE FROM features WHERE environment = $1 AND id = $2', [environment, id]);
}

export function listFeatures(db: Database, environment: string, query: PageQuery) {
  return readPage<FeatureRow>(db, featureList(environment), query);
}

export function featureList(environment: string): List {
  return { columns: COLUMNS, from: 'features', where: 'environment = $1', values: [environment] };
}
