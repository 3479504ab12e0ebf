import { pino } from 'pino';
import { createChdbWarehouse } from '../../../infra/clickhouse/chdb-warehouse.ts';
import type { DataDir } from '../../../infra/platform/data-dir.ts';

const TIMEOUT_MS = 10_000;

/** As if a later release had been on these data: its migration is noted, and nothing else is different. */
export async function makeWarehouseNewer(paths: DataDir): Promise<void> {
  // Which the first release did not have, and every later one does.
  const state = "state LowCardinality(String) DEFAULT 'applied'";
  await ask(paths, `ALTER TABLE metergate.migrations ADD COLUMN IF NOT EXISTS ${state}`);
  await ask(paths, 'INSERT INTO metergate.migrations (number) SELECT 9999');
}

/** Rows of each table with their sum: what a rejection must leave as it was. */
export async function warehouseSums(paths: DataDir): Promise<unknown[]> {
  // FINAL: rows of a key that a merge in between makes one are one before it too.
  const tables = ['events FINAL', 'usage_hourly FINAL', 'migrations'];
  const sums = tables.map((name) => {
    return `SELECT '${name}' AS name, count() AS rows, sum(cityHash64(*)) AS sum FROM metergate.${name}`;
  });
  const ofTables = `
    SELECT name, create_table_query FROM system.tables WHERE database = 'metergate' ORDER BY name`;
  return [
    ...(await ask(paths, `SELECT * FROM (${sums.join(' UNION ALL ')}) ORDER BY name`)),
    ...(await ask(paths, ofTables)),
  ];
}

async function ask({ warehouse: directory }: DataDir, sql: string): Promise<unknown[]> {
  const warehouse = createChdbWarehouse({ directory, log: pino({ level: 'silent' }) });
  try {
    return await warehouse.query({ sql, connection: 'load', timeoutMs: TIMEOUT_MS });
  } finally {
    await warehouse.close();
  }
}
