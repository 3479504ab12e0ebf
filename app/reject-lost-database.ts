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
 * Before a cluster is made: throws Fatal `database_missing` where a log stands without one. The log is made
 * last, at the end of a first start: with it there was a database.
 */
export function rejectLostCluster({ log, postgres }: Pick<DataDir, 'log' | 'postgres'>): void {
  if (hasCluster(postgres) || !readLogIdentity(log)) return;
  const stands = `${join(log, 'log.json')} stands`;
  throw new Fatal('database_missing', `No database is in ${postgres}, and ${stands}: ${RESTORE}`);
}

/**
 * Before anything is made in a database: throws Fatal `database_missing` where it has no identity key and a
 * log stands, `identity_key_mismatch` where the log is of another key.
 */
export async function rejectOtherDatabase(pool: Pool, logDirectory: string): Promise<void> {
  const known = readLogIdentity(logDirectory);
  if (!known) return;
  const key = await readIdentityKey(pool);
  if (key) return rejectOtherIdentity(logDirectory, known, identityCheckOf(key));
  const file = join(logDirectory, 'log.json');
  throw new Fatal(
    'database_missing',
    `The database holds nothing of Metergate, and ${file} stands: ${RESTORE}`,
  );
}
