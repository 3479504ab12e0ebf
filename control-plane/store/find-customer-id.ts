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

/** The same of many, by the names that there are. */
export async function findCustomerIds(
  db: Database,
  environment: string,
  names: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ name: string; id: string }>(
    `SELECT named.name, found.id FROM unnest($2::text[]) AS named (name)
       JOIN LATERAL (
            SELECT id FROM customers WHERE environment = $1 AND id = named.name
             UNION ALL
            SELECT id FROM customers WHERE environment = $1 AND external_id = named.name
             LIMIT 1) found ON true`,
    [environment, names],
  );
  return new Map(rows.map(({ name, id }) => [name, id]));
}
