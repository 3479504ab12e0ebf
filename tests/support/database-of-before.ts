import type { Pool } from 'pg';
import { onTestFinished } from 'vitest';
import { migratePostgres, readMigrations } from '../../infra/postgres/migrate.ts';
import { createPool } from '../../infra/postgres/pool.ts';
import { SILENT } from './silent-log.ts';
import { createTestDatabase } from './test-database.ts';
import { addTestWorkspace } from './test-pool.ts';

/**
 * A database as an earlier release left it, with one workspace: migrated up to and including this number. It
 * is dropped when the running test ends.
 */
export async function databaseOfBefore(
  lastMigration: number,
): Promise<{ pool: Pool; url: string; environment: string }> {
  const { url, drop } = await createTestDatabase({ migrated: false });
  const pool = createPool({ url, name: 'test', log: SILENT });
  onTestFinished(async () => {
    await pool.end();
    await drop();
  });
  const migrations = await readMigrations();
  await migratePostgres(
    url,
    migrations.filter(({ number }) => number <= lastMigration),
  );
  const { environment } = await addTestWorkspace(pool);
  return { pool, url, environment };
}
