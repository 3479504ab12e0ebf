import type { Pool } from 'pg';
import { afterAll, onTestFinished } from 'vitest';
import { newWorkspaceKeys, type WorkspaceKeys, writeWorkspace } from '../../domain/workspace.ts';
import { createPool, inTransaction, type PoolOptions } from '../../infra/postgres/pool.ts';
import { environmentOf } from '../../schemas/primitives/environment.ts';
import { SILENT } from './silent-log.ts';
import { createTestDatabase } from './test-database.ts';
import type { AtEnd } from './test-folder.ts';

export interface TestPool {
  pool: Pool;
  /** Of its database. */
  url: string;
}

/** `migrated: false`: an empty one. */
export type TestPoolOptions = Partial<Omit<PoolOptions, 'url'>> & { migrated?: boolean };

/** Of a busy machine: there the product's ten seconds are not enough for twelve rivals and one lock. */
const STATEMENT_TIMEOUT_MS = 60_000;

/** A pool on a database of its own; both are gone at the end. */
export async function openTestPool(
  atEnd: AtEnd,
  { migrated = true, ...options }: TestPoolOptions = {},
): Promise<TestPool> {
  const { url, drop } = await createTestDatabase({ migrated });
  const limits = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, ...options };
  const pool = createPool({ url, name: 'test', log: SILENT, ...limits });
  URLS.set(pool, url);
  atEnd(async () => {
    await pool.end();
    await drop();
  });
  return { pool, url };
}

const URLS = new WeakMap<Pool, string>();

/** Of the database of a pool that was opened here. */
export function databaseUrlOf(pool: Pool): string {
  return URLS.get(pool) ?? '';
}

export async function testPool(options?: TestPoolOptions): Promise<Pool> {
  return (await openTestPool(onTestFinished, options)).pool;
}

/** One that all tests of a file share. */
export async function poolOfThisFile(): Promise<Pool> {
  return (await openTestPool(afterAll)).pool;
}

/** For the running test: of a Postgres that is unavailable. */
export function unavailablePool(): Pool {
  const pool = createPool({ url: 'postgres://nobody@127.0.0.1:1/none', name: 'unavailable', log: SILENT });
  onTestFinished(() => pool.end());
  return pool;
}

export interface TestWorkspace extends TestPool {
  keys: WorkspaceKeys;
  /** Its live mode. */
  environment: string;
}

/** A database with one workspace, for the running test. */
export async function testWorkspace(options?: TestPoolOptions): Promise<TestWorkspace> {
  const opened = await openTestPool(onTestFinished, options);
  return { ...opened, ...(await addTestWorkspace(opened.pool)) };
}

export async function addTestWorkspace(pool: Pool): Promise<Pick<TestWorkspace, 'keys' | 'environment'>> {
  const keys = newWorkspaceKeys();
  await inTransaction(pool, (db) => writeWorkspace(db, { name: 'Test', keys, pepper: Buffer.alloc(32) }));
  return { keys, environment: environmentOf(keys.workspaceId, 'live') };
}
