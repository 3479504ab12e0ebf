import type { Customer, NewCustomer } from '../../schemas/resources/customers.ts';
import { exactJson } from '../../schemas/rules/exact-json.ts';
import type { Database } from '../request-context.ts';

/** Numbers of the metadata are marked text (schemas/rules/exact-json.ts). */
export interface NewCustomerRow extends NewCustomer {
  id: string;
  environment: string;
}

/** The rest of the row; undefined when another customer of the environment has the external id. */
export async function insertCustomer(
  db: Database,
  row: NewCustomerRow,
): Promise<{ status: Customer['status']; createdAt: Date } | undefined> {
  const { rows } = await db.query<{ status: Customer['status']; createdAt: Date }>(
    `INSERT INTO customers (id, environment, external_id, name, email, metadata)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (environment, external_id) DO NOTHING
     RETURNING status, created_at AS "createdAt"`,
    [row.id, row.environment, row.externalId, row.name, row.email, row.metadata && exactJson(row.metadata)],
  );
  return rows[0];
}
