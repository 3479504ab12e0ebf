import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { type List, listOf, readPage } from './read-page.ts';

export interface BudgetRow extends BudgetFields {
  customerId: string;
  meterKey: string;
  createdAt: Date;
  updatedAt: Date;
}

/** Decimal strings; at least one of them. */
export interface BudgetFields {
  soft: string | null;
  hard: string | null;
}

/** The budget's key: a customer has at most one for a meter. */
export type BudgetPlace = Pick<BudgetRow, 'customerId' | 'meterKey'>;

const COLUMNS = `customer_id AS "customerId", meter_key AS "meterKey", soft, hard,
  created_at AS "createdAt", updated_at AS "updatedAt"`;

/** Replaces the existing one. The customer is locked. */
export async function putBudget(
  db: Database,
  environment: string,
  { customerId, meterKey, soft, hard, updatedAt }: Omit<BudgetRow, 'createdAt'>,
): Promise<BudgetRow | undefined> {
  const { rows } = await db.query<BudgetRow>(
    `INSERT INTO budgets (environment, customer_id, meter_key, soft, hard, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6)
     ON CONFLICT (environment, customer_id, meter_key) DO UPDATE
        SET soft = excluded.soft, hard = excluded.hard, updated_at = excluded.updated_at
     RETURNING ${COLUMNS}`,
    [environment, customerId, meterKey, soft, hard, updatedAt],
  );
  return rows[0];
}

export async function findBudget(
  db: Database,
  environment: string,
  { customerId, meterKey }: BudgetPlace,
): Promise<BudgetRow | undefined> {
  const { rows } = await db.query<BudgetRow>(
    `SELECT ${COLUMNS} FROM budgets WHERE environment = $1 AND customer_id = $2 AND meter_key = $3`,
    [environment, customerId, meterKey],
  );
  return rows[0];
}

export async function deleteBudget(
  db: Database,
  environment: string,
  { customerId, meterKey }: BudgetPlace,
): Promise<void> {
  await db.query('DELETE FROM budgets WHERE environment = $1 AND customer_id = $2 AND meter_key = $3', [
    environment,
    customerId,
    meterKey,
  ]);
}

export function listBudgets(
  db: Database,
  environment: string,
  { customerId, ...page }: PageQuery & { customerId: string },
) {
  return readPage<BudgetRow>(db, listOf(budgetList(environment), 'customer_id', customerId), page);
}

/** Budgets with equal times are ordered by key. */
export function budgetList(environment: string): List {
  const from = '(SELECT *, meter_key AS id FROM budgets) AS budgets';
  return { columns: COLUMNS, from, where: 'environment = $1', values: [environment] };
}
