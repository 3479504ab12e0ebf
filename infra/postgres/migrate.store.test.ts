import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../../tests/support/test-database.ts';
import { queryOnce } from '../../tests/support/with-client.ts';
import { type Migration, migratePostgres, readMigrations } from './migrate.ts';

async function emptyDatabase(): Promise<string> {
  const database = await createTestDatabase({ migrated: false });
  onTestFinished(() => database.drop());
  return database.url;
}

async function column(url: string, sql: string): Promise<unknown[]> {
  return (await queryOnce(url, sql)).map((row) => Object.values(row)[0]);
}

/** Red when the number is written after the statements: rivals then run them twice and collide. */
test('six that migrate one empty database at once all succeed, each migration runs once', async () => {
  const url = await emptyDatabase();
  const migrations: Migration[] = [
    { number: 1, sql: 'CREATE TABLE runs (number integer); INSERT INTO runs VALUES (1)' },
    { number: 2, sql: 'SELECT pg_sleep(0.05); INSERT INTO runs VALUES (2)' },
    { number: 3, sql: 'INSERT INTO runs VALUES (3)' },
  ];
  await Promise.all(Array.from({ length: 6 }, () => migratePostgres(url, migrations)));
  expect(await column(url, 'SELECT number FROM runs ORDER BY number')).toEqual([1, 2, 3]);
  expect(await column(url, 'SELECT number FROM migrations ORDER BY number')).toEqual([1, 2, 3]);
});

/** Red when only what comes after the last one is applied: its tables are missing ever after. */
test('a migration that came between others later on is applied as well', async () => {
  const url = await emptyDatabase();
  const made = (number: number): Migration => ({ number, sql: `CREATE TABLE made_${number} (a integer)` });
  await migratePostgres(url, [made(1), made(3)]);
  await migratePostgres(url, [made(1), made(2), made(3)]);
  expect(await column(url, 'SELECT number FROM migrations ORDER BY number')).toEqual([1, 2, 3]);
  expect(await column(url, 'SELECT count(*)::integer FROM made_2')).toEqual([0]);
});

/** Red when the newest number is not compared. */
test('a database of a later release is rejected and left unchanged', async () => {
  const url = await emptyDatabase();
  const [first, second] = [
    { number: 1, sql: 'CREATE TABLE one ()' },
    { number: 2, sql: 'CREATE TABLE two ()' },
  ];
  await migratePostgres(url, [first, second]);
  await expect(migratePostgres(url, [first])).rejects.toMatchObject({
    name: 'Fatal',
    code: 'database_newer',
  });
});

/** Red when number and statements are not one transaction: the number of the failing one stays. */
test('a migration that fails leaves nothing behind and runs again at the next start', async () => {
  const url = await emptyDatabase();
  const broken = [{ number: 1, sql: 'CREATE TABLE one (); SELECT 1 / 0' }];
  await expect(migratePostgres(url, broken)).rejects.toMatchObject({ code: '22012' });
  await migratePostgres(url, [{ number: 1, sql: 'CREATE TABLE one ()' }]);
  expect(await column(url, 'SELECT count(*)::int FROM one')).toEqual([0]);
});

test('the migrations of this release have growing numbers and apply to an empty database', async () => {
  const url = await emptyDatabase();
  const migrations = await readMigrations();
  const numbers = migrations.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  await migratePostgres(url);
  await migratePostgres(url);
  expect(await column(url, 'SELECT max(number) FROM migrations')).toEqual([numbers.at(-1)]);
});

/** Red when a column that 0003 adds has no default, or when a number is written after its statements. */
test('a database with data of the main job is brought up by six at once and keeps every row', async () => {
  const url = await emptyDatabase();
  const migrations = await readMigrations();
  await migratePostgres(url, migrations.slice(0, 2));
  for (const statement of MAIN_JOB_DATA) await column(url, statement);
  const kept = `SELECT to_jsonb(w)::text FROM workspaces w
      UNION ALL SELECT to_jsonb(k)::text FROM api_keys k
      UNION ALL SELECT to_jsonb(c)::text FROM customers c
      UNION ALL SELECT to_jsonb(m)::text FROM meters m`;
  const before = (await column(url, kept)).map((row) => JSON.parse(String(row)));
  expect(before).toHaveLength(6);
  await Promise.all(Array.from({ length: 6 }, () => migratePostgres(url)));
  const after = (await column(url, kept)).map((row) => JSON.parse(String(row)));
  expect(after).toEqual(before.map((row) => expect.objectContaining(row)));
  expect(await column(url, 'SELECT number FROM migrations ORDER BY number')).toEqual(
    migrations.map(({ number }) => number),
  );
  expect(await column(url, 'SELECT past_due_grace_days FROM workspaces')).toEqual([7]);
  expect(await column(url, 'SELECT DISTINCT created_by FROM api_keys')).toEqual(['operator']);
  expect(await column(url, `SELECT name FROM customers WHERE position('acme-1' IN search_text) > 0`)).toEqual(
    ['Börse'],
  );
});

/** Red when the newest number is not compared. */
test('a database of the next release is rejected by name, and nothing of it is changed', async () => {
  const url = await emptyDatabase();
  await migratePostgres(url);
  const newest = (await readMigrations()).at(-1)?.number ?? 0;
  await column(url, `INSERT INTO migrations (number) VALUES (${newest + 1})`);
  const tables = `SELECT string_agg(table_name || '.' || column_name, ' ' ORDER BY 1)
      FROM information_schema.columns WHERE table_schema = 'public'`;
  const before = await column(url, tables);
  const rejected = migratePostgres(url);
  await expect(rejected).rejects.toMatchObject({ name: 'Fatal', code: 'database_newer' });
  await expect(rejected).rejects.toThrow(new RegExp(`migration ${newest + 1}\\b.* knows ${newest}\\b`));
  expect(await column(url, tables)).toEqual(before);
});

/** A row of each table that 0003 alters, and more of some, with what may be null and what is not. */
const MAIN_JOB_DATA = [
  `INSERT INTO workspaces (id, name, first_api_call_at) VALUES ('ws_a', 'A', '2026-01-01T00:00:00.001Z')`,
  `INSERT INTO environments VALUES ('ws_a:live', 'ws_a', 'live'), ('ws_a:test', 'ws_a', 'test')`,
  `INSERT INTO api_keys (id, environment, kind, hash, last4, scopes, revoked_at) VALUES
    ('key_a', 'ws_a:live', 'secret', '\\x01', 'aaaa', '{*}', NULL),
    ('key_b', 'ws_a:test', 'publishable', '\\x02', 'bbbb', '{}', now())`,
  `INSERT INTO customers (id, environment, external_id, name, email, metadata, status) VALUES
    ('cus_a', 'ws_a:live', 'acme-1', 'Börse', 'It@Boerse.example', '{"n": 123456789.000000000001}', 'active'),
    ('cus_b', 'ws_a:test', NULL, 'B', 'b@example.com', NULL, 'archived')`,
  `INSERT INTO meters (id, environment, key, name, aggregation, credit_rate, source) VALUES
    ('meter_a', 'ws_a:live', 'api_calls', 'api_calls', 'sum', 0.000000000001, 'auto')`,
];
