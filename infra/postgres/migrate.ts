import { readdir, readFile } from 'node:fs/promises';
import { Client, DatabaseError } from 'pg';
import { Fatal } from '../../schemas/failures.ts';

export interface Migration {
  number: number;
  sql: string;
}

const MIGRATIONS_DIRECTORY = new URL('../migrations/postgres/', import.meta.url);
const CONNECT_TIMEOUT_MS = 10_000;
/** unique_violation, duplicate_table, duplicate_object (of the table's row type): all three were met. */
const COLLISIONS = new Set(['23505', '42P07', '42710']);

/**
 * Brings a database up to this release. Any number of processes may do it at once: each migration's
 * transaction begins with its number's row, so that a rival waits there, finds it taken and continues with
 * the next one. Throws Fatal `database_newer` when a later release was here.
 */
export async function migratePostgres(url: string, migrations?: Migration[]): Promise<void> {
  const known = migrations ?? (await readMigrations());
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await createMigrationsTable(client);
    const applied = await readApplied(client);
    rejectNewer(Math.max(0, ...applied), known);
    // Not only those after the last: a build of one of two branches had the later one alone.
    for (const migration of known) if (!applied.has(migration.number)) await apply(client, migration);
  } finally {
    await client.end();
  }
}

/** The numbered files `NNNN_what.sql`, in order. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(MIGRATIONS_DIRECTORY)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name));
  return Promise.all(
    names.sort().map(async (name) => ({
      number: Number(name.slice(0, 4)),
      sql: await readFile(new URL(name, MIGRATIONS_DIRECTORY), 'utf8'),
    })),
  );
}

async function createMigrationsTable(client: Client): Promise<void> {
  try {
    await client.query(
      `CREATE TABLE IF NOT EXISTS migrations (
         number      integer PRIMARY KEY,
         applied_at  timestamptz NOT NULL DEFAULT now()
       )`,
    );
  } catch (error) {
    // Two of these at once may both find nothing; the slower one collides in the catalogue.
    if (!(error instanceof DatabaseError && COLLISIONS.has(error.code ?? ''))) throw error;
  }
}

async function readApplied(client: Client): Promise<Set<number>> {
  const { rows } = await client.query<{ number: number }>('SELECT number FROM migrations');
  return new Set(rows.map(({ number }) => number));
}

function rejectNewer(applied: number, known: Migration[]): void {
  const newest = known.at(-1)?.number ?? 0;
  if (applied <= newest) return;
  throw new Fatal(
    'database_newer',
    `The database is at migration ${applied} (its table migrations), this release knows ${newest}: ` +
      'start a release that is as new.',
  );
}

async function apply(client: Client, { number, sql }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    const { rowCount } = await client.query(
      'INSERT INTO migrations (number) VALUES ($1) ON CONFLICT DO NOTHING',
      [number],
    );
    if (rowCount === 1) await client.query(sql);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}
