import type { Customer } from '../../schemas/resources/customers.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';

/** Numbers of the metadata are marked text where it is written (schemas/primitives/exact-json.ts). */
export interface CustomerRow {
  id: string;
  name: string;
  email: string;
  externalId: string | null;
  processorCustomerId: string | null;
  /** JSON. */
  metadata: string | null;
  status: Customer['status'];
  createdAt: Date;
}

export type CustomerFields = Omit<CustomerRow, 'id' | 'createdAt'>;

const COLUMNS = `id, name, email, external_id AS "externalId",
  processor_customer_id AS "processorCustomerId", metadata::text AS metadata, status,
  created_at AS "createdAt"`;

/** Raises a unique violation when another customer of the environment has one of its ids. */
export async function insertCustomer(
  db: Database,
  environment: string,
  row: Omit<CustomerRow, 'status'>,
): Promise<CustomerRow | undefined> {
  const { rows } = await db.query<CustomerRow>(
    `INSERT INTO customers (id, environment, external_id, processor_customer_id, name, email, metadata,
                            created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
     RETURNING ${COLUMNS}`,
    [
      row.id,
      environment,
      row.externalId,
      row.processorCustomerId,
      row.name,
      row.email,
      row.metadata,
      row.createdAt,
    ],
  );
  return rows[0];
}

/** By id or external id; no external id looks like an id. */
export async function findCustomer(
  db: Database,
  environment: string,
  name: string,
): Promise<CustomerRow | undefined> {
  const { rows } = await db.query<CustomerRow>(
    `SELECT ${COLUMNS} FROM customers WHERE environment = $1 AND (id = $2 OR external_id = $2)`,
    [environment, name],
  );
  return rows[0];
}

/** As {@link findCustomer}, locked against changes for the rest of the transaction. */
export async function lockCustomer(
  db: Database,
  environment: string,
  name: string,
): Promise<CustomerRow | undefined> {
  const { rows } = await db.query<CustomerRow>(
    `SELECT ${COLUMNS} FROM customers WHERE environment = $1 AND (id = $2 OR external_id = $2)
        FOR NO KEY UPDATE`,
    [environment, name],
  );
  return rows[0];
}

/** Raises a unique violation as above. */
export async function updateCustomer(
  db: Database,
  environment: string,
  {
    id,
    name,
    email,
    externalId,
    processorCustomerId,
    metadata,
    status,
  }: CustomerFields & Pick<CustomerRow, 'id'>,
): Promise<CustomerRow | undefined> {
  const { rows } = await db.query<CustomerRow>(
    `UPDATE customers
        SET name = $3, email = $4, external_id = $5, metadata = $6, status = $7, processor_customer_id = $8,
            updated_at = now()
      WHERE environment = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [environment, id, name, email, externalId, metadata, status, processorCustomerId],
  );
  return rows[0];
}

export interface CustomerFilter {
  email?: string | undefined;
  /** A part of name, email or external id, in any case. */
  q?: string | undefined;
}

export function listCustomers(db: Database, environment: string, query: PageQuery & CustomerFilter) {
  return readPage<CustomerRow>(db, customerList(environment, query), query);
}

export function customerList(environment: string, { email, q }: CustomerFilter): List {
  const values: unknown[] = [environment];
  let where = 'environment = $1';
  if (email !== undefined) where += ` AND lower(email) = lower($${values.push(email)})`;
  if (q !== undefined) {
    const text = `$${values.push(q)}`;
    where += ` AND (position(lower(${text}) IN search_text) > 0 OR id = ${text})`;
  }
  return { columns: COLUMNS, from: 'customers', where, values };
}

/** By id: those that there are. */
export async function findCustomersById(
  db: Database,
  environment: string,
  ids: readonly string[],
): Promise<CustomerRow[]> {
  const { rows } = await db.query<CustomerRow>(
    `SELECT ${COLUMNS} FROM customers WHERE environment = $1 AND id = ANY ($2)`,
    [environment, ids],
  );
  return rows;
}
