import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { PlanStatus } from '../../schemas/value-sets.ts';

import type { Database } from '../http/request-context.ts';
import { PLAN_PRICES } from './processor-prices.ts';
import { type List, readPage } from './read-page.ts';

export interface PlanRow {
  id: string;
  key: string;
  name: string;
  description: string | null;
  productId: string;
  status: PlanStatus;
  version: number;
  position: number | null;
  highlights: string[];
  callToAction: string | null;
  /** Ids of the payment processor; rows of a separate table. */
  processorPriceIds: string[];
  createdAt: Date;
  updatedAt: Date;
}

export type PlanFields = Omit<PlanRow, 'id' | 'key' | 'processorPriceIds' | 'createdAt'>;

const COLUMNS = `id, key, name, description, product_id AS "productId", status, version,
  position, highlights, call_to_action AS "callToAction",
  ${PLAN_PRICES}, created_at AS "createdAt", updated_at AS "updatedAt"`;

/** A draft. Undefined when another plan of the environment has the key. */
export async function insertPlan(
  db: Database,
  environment: string,
  row: Omit<PlanRow, 'status' | 'version' | 'processorPriceIds' | 'updatedAt'>,
): Promise<PlanRow | undefined> {
  const { rows } = await db.query<PlanRow>(
    `INSERT INTO plans (id, environment, key, name, description, product_id, position, highlights,
                        call_to_action, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)
     ON CONFLICT (environment, key) DO NOTHING
     RETURNING ${COLUMNS}`,
    [
      row.id,
      environment,
      row.key,
      row.name,
      row.description,
      row.productId,
      row.position,
      row.highlights,
      row.callToAction,
      row.createdAt,
    ],
  );
  return rows[0];
}

/** By id or key; no key looks like an id. */
export async function findPlan(
  db: Database,
  environment: string,
  name: string,
): Promise<PlanRow | undefined> {
  const { rows } = await db.query<PlanRow>(
    `SELECT ${COLUMNS} FROM plans WHERE environment = $1 AND (id = $2 OR key = $2)`,
    [environment, name],
  );
  return rows[0];
}

/** As {@link findPlan}, locked against changes and new subscriptions for the rest of the transaction. */
export async function lockPlan(
  db: Database,
  environment: string,
  name: string,
): Promise<PlanRow | undefined> {
  const { rows } = await db.query<PlanRow>(
    `SELECT ${COLUMNS} FROM plans WHERE environment = $1 AND (id = $2 OR key = $2) FOR NO KEY UPDATE`,
    [environment, name],
  );
  return rows[0];
}

/** Whether a subscription, including one that has ended, is pinned to this version. */
export async function isVersionPinned(
  db: Database,
  environment: string,
  { id, version }: Pick<PlanRow, 'id' | 'version'>,
): Promise<boolean> {
  const { rowCount } = await db.query(
    'SELECT FROM subscriptions WHERE environment = $1 AND plan_id = $2 AND plan_version = $3 LIMIT 1',
    [environment, id, version],
  );
  return rowCount === 1;
}

export async function updatePlan(
  db: Database,
  environment: string,
  row: PlanFields & Pick<PlanRow, 'id'>,
): Promise<PlanRow | undefined> {
  const { rows } = await db.query<PlanRow>(
    `UPDATE plans SET name = $3, description = $4, product_id = $5, status = $6, version = $7, position = $8,
                      highlights = $9, call_to_action = $10, updated_at = $11
      WHERE environment = $1 AND id = $2
     RETURNING ${COLUMNS}`,
    [
      environment,
      row.id,
      row.name,
      row.description,
      row.productId,
      row.status,
      row.version,
      row.position,
      row.highlights,
      row.callToAction,
      row.updatedAt,
    ],
  );
  return rows[0];
}

/** In the order of a pricing page. */
export async function listPublishedPlans(
  db: Database,
  environment: string,
  plansMax: number,
): Promise<PlanRow[]> {
  const { rows } = await db.query<PlanRow>(
    `SELECT ${COLUMNS} FROM plans WHERE environment = $1 AND status = 'published'
      ORDER BY position NULLS LAST, created_at, id LIMIT $2`,
    [environment, plansMax],
  );
  return rows;
}

export interface PlanFilter {
  status?: PlanStatus | undefined;
  productId?: string | undefined;
}

export function listPlans(db: Database, environment: string, query: PageQuery & PlanFilter) {
  return readPage<PlanRow>(db, planList(environment, query), query);
}

export function planList(environment: string, { status, productId }: PlanFilter): List {
  const values: unknown[] = [environment];
  let where = 'environment = $1';
  if (status !== undefined) where += ` AND status = $${values.push(status)}`;
  if (productId !== undefined) where += ` AND product_id = $${values.push(productId)}`;
  return { columns: COLUMNS, from: 'plans', where, values };
}

/** By id: those that there are. */
export async function findPlansById(
  db: Database,
  environment: string,
  ids: readonly string[],
): Promise<PlanRow[]> {
  const { rows } = await db.query<PlanRow>(
    `SELECT ${COLUMNS} FROM plans WHERE environment = $1 AND id = ANY ($2)`,
    [environment, ids],
  );
  return rows;
}
