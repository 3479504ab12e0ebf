import { join } from 'node:path';
import type { Pool } from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import { Fatal } from '../../schemas/failures.ts';

/**
 * For a folder without a log, before one is made in it: throws Fatal `log_missing` where the database knows
 * of one that was counted. A volume was not mounted, or is lost. A new log in its place would begin with no
 * key, so that whatever is sent again would count again. Throws Transient.
 */
export async function rejectLostLog(pool: Pool, directory: string): Promise<void> {
  const { rows } = await pool
    .query('SELECT FROM (SELECT FROM log_ranges UNION ALL SELECT FROM log_trims) AS known LIMIT 1')
    .catch(throwTransient);
  if (rows.length === 0) return;
  throw new Fatal(
    'log_missing',
    `${join(directory, 'log.json')} is missing, and the database has counted events of a log: ` +
      'mount or restore DATA_DIR. With a new log, what is sent again would be counted again.',
  );
}
