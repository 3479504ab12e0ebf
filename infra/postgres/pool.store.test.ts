import type { Pool } from 'pg';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createPool, inTransaction, type PoolOptions } from './pool.ts';
import { createTestDatabase } from './test-database.ts';
import { asTransient, isUnavailable } from './unavailable.ts';

async function openPool(options: Partial<PoolOptions> = {}): Promise<Pool> {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, name: 'test', log: pino({ level: 'silent' }), ...options });
  onTestFinished(async () => {
    await pool.end();
    await database.drop();
  });
  return pool;
}

async function failureOf(act: Promise<unknown>): Promise<unknown> {
  return act.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('decimals come as their text, small bigints as numbers and large ones as text', async () => {
  const pool = await openPool();
  const { rows } = await pool.query(
    `SELECT 0.10::numeric AS decimal, 5::bigint AS small, 9007199254740993::bigint AS large`,
  );
  expect(rows).toEqual([{ decimal: '0.10', small: 5, large: '9007199254740993' }]);
});

/** Red when COMMIT also follows a throw. */
test('what a transaction did is undone when it throws, and kept when it returns', async () => {
  const pool = await openPool();
  const insert = `INSERT INTO installation (name, value) VALUES ($1, '')`;
  const failing = inTransaction(pool, async (client) => {
    await client.query(insert, ['undone']);
    throw new TypeError('no');
  });
  await expect(failing).rejects.toThrow(TypeError);
  await inTransaction(pool, (client) => client.query(insert, ['kept']));
  const { rows } = await pool.query('SELECT name FROM installation');
  expect(rows).toEqual([{ name: 'kept' }]);
  expect(pool.idleCount).toBe(pool.totalCount);
});

/** Red when the listener on lent connections is left out: the run ends with an uncaught error. */
test('a connection that is cut in the middle of a transaction fails that transaction alone', async () => {
  const pool = await openPool();
  const error = await failureOf(
    inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      await client.query('SELECT 1');
    }),
  );
  expect(isUnavailable(error)).toBe(true);
  await expect(pool.query('SELECT 1')).resolves.toMatchObject({ rowCount: 1 });
});

test('a statement over its time is told as Postgres being away, a wrong one is not', async () => {
  const pool = await openPool({ statementTimeoutMs: 50 });
  expect(isUnavailable(await failureOf(pool.query('SELECT pg_sleep(5)')))).toBe(true);
  const wrong = await failureOf(pool.query('SELECT 1 / 0'));
  expect(isUnavailable(wrong)).toBe(false);
  expect(asTransient(wrong)).toBe(wrong);
});

test('a server that cannot be reached is told as Transient', async () => {
  const pool = createPool({
    url: 'postgres://a:b@127.0.0.1:1/x',
    name: 'test',
    log: pino({ level: 'silent' }),
  });
  const error = await failureOf(pool.query('SELECT 1'));
  expect(asTransient(error)).toMatchObject({ name: 'Transient', code: 'database_unavailable' });
  await pool.end();
});
