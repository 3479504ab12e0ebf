import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type Migration, migratePostgres, readMigrations } from './migrate.ts';
import { createTestDatabase } from './test-database.ts';

async function emptyDatabase(): Promise<string> {
  const database = await createTestDatabase({ migrated: false });
  onTestFinished(() => database.drop());
  return database.url;
}

async function column(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' }).finally(() => client.end());
  return rows.map((row) => row[0]);
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

/** Red when the newest number is not compared. */
test('a database of a later release is refused and left as it is', async () => {
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

test('the migrations of this release are numbered without a gap and apply to an empty database', async () => {
  const url = await emptyDatabase();
  const migrations = await readMigrations();
  expect(migrations.map(({ number }) => number)).toEqual(migrations.map((_, index) => index + 1));
  await migratePostgres(url);
  await migratePostgres(url);
  expect(await column(url, 'SELECT max(number) FROM migrations')).toEqual([migrations.length]);
});
