import { setTimeout as pass } from 'node:timers/promises';
import { type DestinationStream, pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { databaseBehindWay } from '../../tests/servers/faulty-way.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testPool } from '../../tests/support/test-pool.ts';
import { createPool, inTransaction } from './pool.ts';
import { asTransient, isUnavailable } from './unavailable.ts';

async function failureOf(act: Promise<unknown>): Promise<unknown> {
  return act.then(
    () => undefined,
    (error: unknown) => error,
  );
}

test('decimals come as their text, small bigints as numbers and large ones as text', async () => {
  const pool = await testPool();
  const { rows } = await pool.query(
    `SELECT 0.10::numeric AS decimal, 5::bigint AS small, 9007199254740993::bigint AS large`,
  );
  expect(rows).toEqual([{ decimal: '0.10', small: 5, large: '9007199254740993' }]);
});

/** Red when COMMIT also follows a throw. */
test('what a transaction did is undone when it throws, and kept when it returns', async () => {
  const pool = await testPool();
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
  const pool = await testPool();
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

test('a statement over its time is reported as Postgres being unavailable, a wrong one is not', async () => {
  const pool = await testPool({ statementTimeoutMs: 50 });
  expect(isUnavailable(await failureOf(pool.query('SELECT pg_sleep(5)')))).toBe(true);
  const wrong = await failureOf(pool.query('SELECT 1 / 0'));
  expect(isUnavailable(wrong)).toBe(false);
  expect(asTransient(wrong)).toBe(wrong);
});

test('no connection sits idle in a transaction for longer than ten seconds', async () => {
  const pool = await testPool();
  const { rows } = await pool.query('SHOW idle_in_transaction_session_timeout');
  expect(rows).toEqual([{ idle_in_transaction_session_timeout: '10s' }]);
});

/** Red when a stop warns of connections that end anyway, or when others break without a warning. */
test('a connection that breaks is logged, but not while its pool ends', async () => {
  const lines: string[] = [];
  const pool = createPool({
    url: 'postgres://a:b@127.0.0.1:1/x',
    name: 'test',
    log: pino({}, linesInto(lines)),
  });
  const broken = Object.assign(new Error('terminating connection'), { code: '57P01' });
  pool.emit('error', broken, {} as never);
  expect(lines).toEqual([expect.stringContaining('an idle Postgres connection broke')]);
  const ended = pool.end();
  pool.emit('error', broken, {} as never);
  await ended;
  expect(lines).toHaveLength(1);
});

function linesInto(lines: string[]): DestinationStream {
  return { write: (line) => void lines.push(line) };
}

test('a server that cannot be reached is reported as Transient', async () => {
  const pool = createPool({
    url: 'postgres://a:b@127.0.0.1:1/x',
    name: 'test',
    log: SILENT,
  });
  const error = await failureOf(pool.query('SELECT 1'));
  expect(asTransient(error)).toMatchObject({ name: 'Transient', code: 'database_unavailable' });
  await pool.end();
});

/** Red when the sockets are left to the server: a stop then waits for as long as it hangs. */
test('a pool ends quickly while its server hangs, in the middle of a statement and at rest', async () => {
  const { url, way } = await databaseBehindWay(onTestFinished);
  const pool = createPool({ url, name: 'test', log: SILENT });
  await Promise.all([pool.query('SELECT 1'), pool.query('SELECT 1')]);
  way.silence();
  const failure = failureOf(pool.query('SELECT 1'));
  await vi.waitFor(() => expect(pool.idleCount).toBe(1), 20_000);
  const ended = await Promise.race([pool.end().then(() => 'ended'), pass(3_000)]);
  expect(ended).toBe('ended');
  expect(isUnavailable(await failure)).toBe(true);
});
