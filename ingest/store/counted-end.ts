import type { Pool } from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';

/**
 * Up to which position the log (32 hexadecimal digits, partition 0) was counted, or is about to be: it was
 * durable so far. A log that ends before is older than the database. Throws Transient.
 */
export async function countedEnd(pool: Pool, logId: string): Promise<number> {
  const { rows } = await pool
    .query<{ hi: number }>(
      'SELECT hi FROM log_ranges WHERE log_id = $1 AND partition = 0 ORDER BY lo DESC LIMIT 1',
      [logId],
    )
    .catch(throwTransient);
  return rows[0]?.hi ?? 0;
}
