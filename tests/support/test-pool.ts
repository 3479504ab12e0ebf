import type { Pool } from 'pg';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createPool, type PoolOptions } from '../../infra/postgres/pool.ts';
import { createTestDatabase } from './test-database.ts';

/** Of a database of one's own, which goes when the test is over. */
export async function testPool(options: Pick<PoolOptions, 'statementTimeoutMs'> = {}): Promise<Pool> {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, name: 'test', log: pino({ level: 'silent' }), ...options });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  return pool;
}
