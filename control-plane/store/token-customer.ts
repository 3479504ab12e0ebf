import type { Database } from '../http/request-context.ts';

export interface TokenCustomer {
  id: string;
  externalId: string | null;
  status: 'active' | 'archived';
}

/** By id or external id. */
export async function findTokenCustomer(
  db: Database,
  environment: string,
  name: string,
): Promise<TokenCustomer | undefined> {
  const { rows } = await db.query<TokenCustomer>(
    `SELECT id, external_id AS "externalId", status FROM customers
      WHERE environment = $1 AND (id = $2 OR external_id = $2)`,
    [environment, name],
  );
  return rows[0];
}
