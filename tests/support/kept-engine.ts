import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SETTINGS_BY_CONNECTION } from '../../infra/clickhouse/connection-settings.ts';
import { type ChdbSession, openSession } from '../../infra/clickhouse/embedded/chdb-connection.ts';
import { putMigratedWarehouse } from './migrated-warehouse.ts';
import type { AtEnd } from './test-folder.ts';

/**
 * The engine of this process, which opens one folder at a time. Opening it and filling its caches takes five
 * times as long as emptying its tables, and more than most tests. So it is kept open from one test to the
 * next, by a connection of its own, until the file ends (./close-kept-engine.ts).
 */
interface KeptEngine {
  directory: string;
  session: ChdbSession;
  close(): Promise<void>;
  /** What an empty one says of itself. */
  whenEmpty: string;
}

/** Of the process: files may share it and load this module again. */
const kept = globalThis as { metergateTestEngine?: KeptEngine };

/** The folder of a migrated warehouse without a row. The one before it must be closed. */
export async function emptyWarehouseFolder(): Promise<string> {
  const before = kept.metergateTestEngine;
  if (before && (await isEmptied(before))) return before.directory;
  await before?.close();
  const directory = mkdtempSync(join(tmpdir(), 'metergate-test-'));
  await putMigratedWarehouse(directory);
  const session = await openSession(directory, SETTINGS_BY_CONNECTION.counters);
  const close = async () => {
    delete kept.metergateTestEngine;
    await session.client.close();
    rmSync(directory, { recursive: true, force: true });
  };
  kept.metergateTestEngine = { directory, session, close, whenEmpty: await stateOf(session) };
  return directory;
}

/** Ends it, and leaves its folder to the test that opens it again. */
export async function releaseEngine(atEnd: AtEnd): Promise<void> {
  const engine = kept.metergateTestEngine;
  if (!engine) return;
  delete kept.metergateTestEngine;
  await engine.session.client.close();
  atEnd(() => rmSync(engine.directory, { recursive: true, force: true }));
}

const TABLES = [
  ...['events', 'usage_hourly', 'usage_by_property', 'closed_properties'],
  ...['change_events', 'voided_events', 'change_hourly', 'change_by_property'],
];

/** False when a test has left in it what a new one would not have. */
async function isEmptied({ session, whenEmpty }: KeptEngine): Promise<boolean> {
  // One that has lost its tables cannot even say so.
  const state = await stateOf(session).catch(() => undefined);
  if (state !== whenEmpty) return false;
  for (const table of TABLES) await session.client.command({ query: `TRUNCATE TABLE metergate.${table}` });
  return true;
}

/**
 * Without the rows: how each table is made, the releases that were in it, and traces of what an emptied table
 * keeps, as the tokens of blocks whose rows were deleted.
 */
async function stateOf({ client }: ChdbSession): Promise<string> {
  const found = await client.query({
    query: `SELECT (SELECT groupArray(create_table_query) FROM (
                      SELECT create_table_query FROM system.tables WHERE database = 'metergate' ORDER BY name
                    )) AS tables,
                   (SELECT groupArray(number) FROM (
                      SELECT number FROM metergate.migrations ORDER BY number
                    )) AS migrations,
                   (SELECT count() FROM system.mutations
                    WHERE database = 'metergate' AND command LIKE '%DELETE%') AS mutations,
                   (SELECT count() FROM system.detached_parts WHERE database = 'metergate') AS detached`,
    format: 'JSONEachRow',
  });
  return JSON.stringify(await found.json());
}
