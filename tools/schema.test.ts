import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readMigrations } from '../infra/postgres/migrate.ts';

/** The quick half of schema.store.test.ts, for a contributor who runs no database. */
test('schema.sql is as new as the last migration: `npm run schema` writes it', async () => {
  const last = (await readMigrations()).at(-1)?.number;
  const [head] = readFileSync('infra/migrations/postgres/schema.sql', 'utf8').split('\n');
  expect(head).toContain(`after migration ${last},`);
});
