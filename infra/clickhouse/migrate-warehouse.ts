import { readdir, readFile } from 'node:fs/promises';
import { Fatal } from '../../schemas/failures.ts';
import { readFailure } from './driver-errors.ts';
import type { Transport } from './transport.ts';

interface Migration {
  number: number;
  statements: string[];
}

const DIRECTORY = new URL('../migrations/clickhouse/', import.meta.url);
const TIMEOUT_MS = 60_000;
const END_OF_STATEMENT = /;[ \t]*$/m;

/**
 * Brings the warehouse up to this release. ClickHouse has no transactions: every statement is written so that
 * it may run again (IF NOT EXISTS), and a number is noted when all of its statements ran. Throws Fatal
 * `warehouse_newer` when a later release was here.
 */
export async function migrateWarehouse(transport: Transport): Promise<void> {
  try {
    await createMigrationsTable(transport);
    const known = await readMigrations();
    const applied = await lastApplied(transport);
    refuseNewer(applied, known.at(-1)?.number ?? 0);
    for (const migration of known) {
      if (migration.number > applied) await apply(transport, migration);
    }
  } catch (error) {
    throw readFailure(error);
  }
}

async function createMigrationsTable(transport: Transport): Promise<void> {
  await transport.command('CREATE DATABASE IF NOT EXISTS metergate');
  await transport.command(
    `CREATE TABLE IF NOT EXISTS metergate.migrations (number UInt32, applied_at DateTime('UTC') DEFAULT now())
     ENGINE = MergeTree ORDER BY number SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  );
}

/** The numbered files `NNNN_what.sql`, in order. */
async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(DIRECTORY)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, DIRECTORY), 'utf8');
      const statements = text.split(END_OF_STATEMENT).filter((statement) => statement.trim() !== '');
      return { number: Number(name.slice(0, 4)), statements };
    }),
  );
}

async function lastApplied(transport: Transport): Promise<number> {
  const sql = 'SELECT max(number) AS last FROM metergate.migrations';
  const [row] = await transport.rows<{ last: number }>({ sql, lane: 'load', timeoutMs: TIMEOUT_MS });
  return row?.last ?? 0;
}

function refuseNewer(applied: number, newest: number): void {
  if (applied <= newest) return;
  throw new Fatal(
    'warehouse_newer',
    `The warehouse is at migration ${applied}, this release knows ${newest}: start a release that is as new.`,
  );
}

async function apply(transport: Transport, { number, statements }: Migration): Promise<void> {
  for (const statement of statements) await transport.command(statement);
  await transport.command(`INSERT INTO metergate.migrations (number) VALUES (${number})`);
}
