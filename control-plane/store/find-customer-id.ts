import type { Database } from '../http/request-context.ts';

/** The id of the customer with this id or external id; no external id looks like an id. */
export async function findCustomerId(
  db: Database,
  environment: string,
  name: string,
): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(
    'SELECT id FROM customers WHERE environment = $1 AND (id = $2 OR external_id = $2)',
    [environment, name],
  );
  return rows[0]?.id;
}
