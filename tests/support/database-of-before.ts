import type { Pool } from 'pg';
import { onTestFinished } from 'vitest';
import { migratePostgres, readMigrations } from '../../infra/postgres/migrate.ts';
import { addTestWorkspace, openTestPool } from './test-pool.ts';

/**
 * A database as an earlier release left it, with one workspace: migrated up to and including this number. It
 * is dropped when the running test ends.
 */
export async function databaseOfBefore(
  lastMigration: number,
): Promise<{ pool: Pool; url: string; environment: string }> {
  const { pool, url } = await openTestPool(onTestFinished, { migrated: false });
  const migrations = await readMigrations();
  await migratePostgres(
    url,
    migrations.filter(({ number }) => number <= lastMigration),
  );
  const { environment } = await addTestWorkspace(pool);
  return { pool, url, environment };
}
