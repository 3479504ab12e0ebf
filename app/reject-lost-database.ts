import { join } from 'node:path';
import type { Pool } from 'pg';
import { identityCheckOf, readIdentityKey } from '../domain/secrets.ts';
import type { DataDir } from '../infra/platform/data-dir.ts';
import { hasCluster } from '../infra/postgres/cluster.ts';
import { readLogIdentity, rejectOtherIdentity } from '../infra/segment-log/log-identity.ts';
import { Fatal } from '../schemas/failures.ts';

const RESTORE =
  'restore it from the backup of DATA_DIR, or set DATABASE_URL to where it is. With a new database no API ' +
  'key would be known, and what is stored would be counted again.';

/**
 * Before a cluster is made: throws Fatal `database_missing` when a log exists without a database. A first
 * start makes the log last: with a log there was a database.
 */
export function rejectLostCluster({ log, postgres }: Pick<DataDir, 'log' | 'postgres'>): void {
  if (hasCluster(postgres) || !readLogIdentity(log)) return;
  const exists = `${join(log, 'log.json')} exists`;
  throw new Fatal('database_missing', `No database is in ${postgres}, and ${exists}: ${RESTORE}`);
}

/**
 * Before anything is made in a database: throws Fatal `database_missing` when it has no identity key and a
 * log exists, `identity_key_mismatch` when the log is of another key.
 */
export async function rejectOtherDatabase(pool: Pool, logDirectory: string): Promise<void> {
  const known = readLogIdentity(logDirectory);
  if (!known) return;
  const key = await readIdentityKey(pool);
  if (key) return rejectOtherIdentity(logDirectory, known, identityCheckOf(key));
  const file = join(logDirectory, 'log.json');
  throw new Fatal(
    'database_missing',
    `The database holds nothing of Metergate, and ${file} exists: ${RESTORE}`,
  );
}
