import type { Pool } from 'pg';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { newWorkspaceKeys, writeWorkspace } from '../../domain/workspace.ts';
import { migratePostgres, readMigrations } from '../../infra/postgres/migrate.ts';
import { createPool, inTransaction } from '../../infra/postgres/pool.ts';
import { createTestDatabase } from './test-database.ts';

/**
 * A database as an earlier release left it, with one workspace: migrated up to and including this number. It
 * is dropped when the running test ends.
 */
export async function databaseOfBefore(
  lastMigration: number,
): Promise<{ pool: Pool; url: string; environment: string }> {
  const { url, drop } = await createTestDatabase({ migrated: false });
  const pool = createPool({ url, name: 'test', log: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await pool.end();
    await drop();
  });
  const migrations = await readMigrations();
  await migratePostgres(
    url,
    migrations.filter(({ number }) => number <= lastMigration),
  );
  const keys = newWorkspaceKeys();
  await inTransaction(pool, (db) => writeWorkspace(db, { name: 'Test', keys, pepper: Buffer.alloc(32) }));
  return { pool, url, environment: `${keys.workspaceId}:live` };
}
