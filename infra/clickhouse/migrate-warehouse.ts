import { readdir, readFile } from 'node:fs/promises';
import { Fatal } from '../../schemas/failures.ts';
import { BY_PROPERTY_SINCE } from '../../schemas/stored/usage-by-property.ts';
import type { MigrateOptions } from '../ports/warehouse.ts';
import { readFailure } from './driver-errors.ts';
import { onCluster } from './on-cluster.ts';
import { fillByProperty } from './rollups/fill-by-property.ts';
import type { Transport } from './transport.ts';

interface Migration {
  number: number;
  needsPause: boolean;
  statements: string[];
}

const OF_THIS_RELEASE = new URL('../migrations/clickhouse/', import.meta.url);
/**
 * The first line of a file that changes a view: the folder's README has its rules. Files that were applied
 * have this word.
 */
const NEEDS_PAUSE = /^-- standstill\b/;
/** What a migration does behind its statements, which may take minutes. */
const FILLS: ReadonlyMap<number, (transport: Transport) => Promise<void>> = new Map([
  [BY_PROPERTY_SINCE, fillByProperty],
]);
const TIMEOUT_MS = 60_000;
const END_OF_STATEMENT = /;[ \t]*$/m;

/**
 * Migrates the warehouse to this release. ClickHouse has no transactions: every statement is written so that
 * it may run again. A migration is recorded as begun before its first statement, so that an earlier release
 * rejects what a crash left half done, and as applied after its last. Throws Fatal `warehouse_newer` when a
 * later release was here.
 */
export async function migrateWarehouse(
  given: Transport,
  { atPause = (work) => work(async () => {}), directory = OF_THIS_RELEASE }: MigrateOptions = {},
  cluster?: string,
): Promise<void> {
  const transport = cluster === undefined ? given : notifying(given, cluster);
  const applyOnce = (migration: Migration, mayWrite = async () => {}) =>
    requested(() => applyIfMissing(checking(transport, mayWrite), migration));
  const known = await readMigrations(directory);
  const missing = await requested(async () => {
    await createMigrationsTable(transport);
    await rejectNewer(transport, known.at(-1)?.number ?? 0);
    const applied = await appliedNumbers(transport);
    return known.filter(({ number }) => !applied.has(number));
  });
  for (const migration of missing) {
    // mutant: view-changed-without-a-pause
    if (migration.needsPause) await atPause((mayWrite) => applyOnce(migration, mayWrite));
    else await applyOnce(migration);
  }
}

/** The same, but for statements that run on every server of the cluster. */
function notifying(transport: Transport, cluster: string): Transport {
  return { ...transport, command: (sql, ...more) => transport.command(onCluster(sql, cluster), ...more) };
}

/** The same, but it calls `mayWrite` before each statement that changes something. */
function checking(transport: Transport, mayWrite: () => Promise<void>): Transport {
  return {
    ...transport,
    async command(...given) {
      // mutant: filled-without-the-pause
      await mayWrite();
      await transport.command(...given);
    },
  };
}

async function requested<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw readFailure(error);
  }
}

/** The numbered files `NNNN_what.sql`, in order. */
async function readMigrations(directory: URL): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, directory), 'utf8');
      // mutant: view-without-its-window
      const statements = text.split(END_OF_STATEMENT).filter((statement) => statement.trim() !== '');
      return { number: Number(name.slice(0, 4)), needsPause: NEEDS_PAUSE.test(text), statements };
    }),
  );
}

async function createMigrationsTable(transport: Transport): Promise<void> {
  await transport.command('CREATE DATABASE IF NOT EXISTS metergate');
  await transport.command(
    `CREATE TABLE IF NOT EXISTS metergate.migrations (number UInt32, applied_at DateTime('UTC') DEFAULT now())
     ENGINE = MergeTree ORDER BY number SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  );
  // The first release recorded only applied migrations.
  await transport.command(
    `ALTER TABLE metergate.migrations
     ADD COLUMN IF NOT EXISTS state LowCardinality(String) DEFAULT 'applied'`,
  );
}

async function rejectNewer(transport: Transport, newest: number): Promise<void> {
  const sql = 'SELECT max(number) AS last FROM metergate.migrations';
  const [row] = await transport.rows<{ last: number }>({ sql, connection: 'load', timeoutMs: TIMEOUT_MS });
  const last = row?.last ?? 0;
  if (last <= newest) return;
  throw new Fatal(
    'warehouse_newer',
    `The warehouse is at migration ${last} (its table metergate.migrations), this release knows ${newest}: ` +
      'start a release that is as new.',
  );
}

async function appliedNumbers(transport: Transport): Promise<Set<number>> {
  const sql = "SELECT DISTINCT number FROM metergate.migrations WHERE state = 'applied'";
  const rows = await transport.rows<{ number: number }>({ sql, connection: 'load', timeoutMs: TIMEOUT_MS });
  return new Set(rows.map(({ number }) => number));
}

/** Reads the state again: another process may have migrated while this one waited for the load to pause. */
async function applyIfMissing(transport: Transport, { number, statements }: Migration): Promise<void> {
  // mutant: rival-migration-not-looked-for
  if ((await appliedNumbers(transport)).has(number)) return;
  // mutant: migration-noted-at-its-end-only
  await recordStep(transport, number, 'begun');
  for (const statement of statements) await transport.command(statement);
  await FILLS.get(number)?.(transport);
  await recordStep(transport, number, 'applied');
}

async function recordStep(transport: Transport, number: number, state: 'begun' | 'applied'): Promise<void> {
  await transport.command(`INSERT INTO metergate.migrations (number, state) VALUES (${number}, '${state}')`);
}
