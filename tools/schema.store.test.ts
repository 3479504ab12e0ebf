import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { readMigrations } from '../infra/postgres/migrate.ts';
import { createTestDatabase } from '../tests/support/test-database.ts';
import { queryOnce } from '../tests/support/with-client.ts';
import { dumpSchema } from './dump-schema.ts';

const FILE = 'infra/migrations/postgres/schema.sql';

async function database(options?: { migrated: boolean }): Promise<string> {
  const { url, drop } = await createTestDatabase(options);
  onTestFinished(drop);
  return url;
}

/** Red when a migration is added without `npm run schema`: its effect would be missing in the review. */
test('schema.sql is what the migrations of this release make', async () => {
  expect(await dumpSchema(await database())).toBe(readFileSync(FILE, 'utf8'));
});

test('schema.sql is no migration', async () => {
  const sql = readFileSync(FILE, 'utf8');
  expect((await readMigrations()).map((one) => one.sql)).not.toContain(sql);
});

/** Red when a kind of object is left out of the dump. */
test.each([
  'ALTER TABLE quarantine ADD COLUMN noticed boolean NOT NULL DEFAULT false',
  'ALTER TABLE quarantine ALTER COLUMN reason DROP NOT NULL',
  'ALTER TABLE quarantine ADD CHECK (line >= 0)',
  'CREATE INDEX ON quarantine (created_at) WHERE resolved_at IS NULL',
  'ALTER TABLE quarantine SET (fillfactor = 70)',
  'CREATE VIEW open_quarantine AS SELECT line FROM quarantine',
  "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
])('a change is seen: %s', async (sql) => {
  const url = await database();
  const before = await dumpSchema(url);
  await queryOnce(url, sql);
  expect(await dumpSchema(url)).not.toBe(before);
});
