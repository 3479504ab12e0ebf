import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import type { DataDir } from '../../infra/data-dir.ts';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import { Fatal } from '../../schemas/failures.ts';

/** Made by an operator, for one start: the log is lost for good, a new one may take its place. */
const CONSENT = 'begin-anew';

/**
 * For a folder without a log, before one is made in it: whether the database knows of one that was counted.
 * A volume was not mounted, or is lost: without an operator's word that throws Fatal `log_missing`, since the
 * log may hold what was acknowledged and is not counted yet. Throws Transient.
 */
export async function isLogLost(pool: Pool, { log, keys }: Pick<DataDir, 'log' | 'keys'>): Promise<boolean> {
  const { rows } = await pool
    .query('SELECT FROM (SELECT FROM log_ranges UNION ALL SELECT FROM log_trims) AS known LIMIT 1')
    .catch(throwTransient);
  if (rows.length === 0) return false;
  const consent = join(log, CONSENT);
  if (existsSync(consent)) return true;
  throw new Fatal(
    'log_missing',
    `${join(log, 'log.json')} is gone, and the database has counted events of a log: mount or restore ` +
      'DATA_DIR. Where that log is lost for good, with all of it that was acknowledged and not counted, ' +
      `move ${keys} away if it is there, make the empty file ${consent}, and start again.`,
  );
}

/** Once there is a log: the next one that is missed is another matter. */
export function forgetConsent(directory: string): void {
  rmSync(join(directory, CONSENT), { force: true });
}
