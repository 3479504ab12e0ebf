import type pg from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';

export interface RequestedNames {
  environment: string;
  kind: 'customer' | 'meter';
  names: string[];
}

const STATEMENTS = {
  customer: `SELECT sent FROM unnest($2::text[]) AS requested (sent)
              WHERE EXISTS (SELECT FROM customers WHERE environment = $1 AND id = sent)
                 OR EXISTS (SELECT FROM customers WHERE environment = $1 AND external_id = sent)`,
  meter: `SELECT sent FROM unnest($2::text[]) AS requested (sent)
           WHERE EXISTS (SELECT FROM meters WHERE environment = $1 AND id = sent)
              OR EXISTS (SELECT FROM meters WHERE environment = $1 AND key = sent)`,
};

/** Those of the names that an environment has; nothing is made. Throws Transient. */
export async function findNames(
  pool: pg.Pool,
  { environment, kind, names }: RequestedNames,
): Promise<Set<string>> {
  const { rows } = await pool
    .query<{ sent: string }>(STATEMENTS[kind], [environment, names])
    .catch(throwTransient);
  return new Set(rows.map(({ sent }) => sent));
}
