import type pg from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import type { Customer } from '../registry-entries.ts';

/** Customers by id or external id, keyed by the requested name. Throws Transient. */
export async function findCustomers(
  pool: pg.Pool,
  environment: string,
  names: string[],
): Promise<Map<string, Customer>> {
  const { rows } = await pool
    .query<{ id: string; external_id: string | null; status: string }>(
      `SELECT id, external_id, status FROM customers
        WHERE environment = $1 AND (id = ANY ($2) OR external_id = ANY ($2))`,
      [environment, names],
    )
    .catch(throwTransient);
  const requested = new Set(names);
  const found = new Map<string, Customer>();
  for (const row of rows) {
    const customer = { id: row.id, archived: row.status === 'archived', customerMeters: new Map() };
    for (const name of [row.id, row.external_id]) {
      if (name !== null && requested.has(name)) found.set(name, customer);
    }
  }
  return found;
}
