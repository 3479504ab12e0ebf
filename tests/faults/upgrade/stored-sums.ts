import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { escapeIdentifier } from 'pg';
import { pino } from 'pino';
import { createChdbWarehouse } from '../../../infra/clickhouse/embedded/chdb-warehouse.ts';
import type { DataDir } from '../../../infra/platform/data-dir.ts';
import { queryPostgres } from '../query-postgres.ts';

/* Sums over what is stored: a rejection must leave all of it as it was. */

/** Of every file that no server writes, byte for byte. */
export function checkSums({ log, keys }: DataDir): Record<string, number> {
  return sumsOf([log, keys].filter((folder) => existsSync(folder)).flatMap(filesIn));
}

/** Of everything but the locks: of an installation whose stores are elsewhere. */
export function checkSumsOfAll({ root, lock }: DataDir): Record<string, number> {
  return sumsOf(filesIn(root).filter((path) => dirname(path) !== dirname(lock('any'))));
}

function sumsOf(paths: string[]): Record<string, number> {
  return Object.fromEntries(paths.map((path) => [path, crc32(readFileSync(path))]));
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Of each table of a database its columns and rows. */
export async function databaseSums(url: string): Promise<Record<string, string>> {
  const tables = await queryPostgres<{ name: string; columns: string[] }>(
    url,
    `SELECT table_name AS name,
       array_agg(concat_ws(' ', column_name, data_type, is_nullable, column_default) ORDER BY column_name)
         AS columns
     FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name`,
  );
  const sums: Record<string, string> = {};
  for (const { name, columns } of tables) {
    const rows = await queryPostgres(url, `SELECT * FROM ${escapeIdentifier(name)} AS it ORDER BY it`);
    sums[name] = createHash('sha256')
      .update(JSON.stringify([columns, rows]))
      .digest('hex');
  }
  return sums;
}

/** Rows of each table of the warehouse with their sum, and its tables. */
export async function warehouseSums(paths: DataDir): Promise<unknown[]> {
  // FINAL: rows of a key that a merge in between makes one are one before it too.
  const tables = ['events FINAL', 'usage_hourly FINAL', 'migrations'];
  const sums = tables.map((name) => {
    return `SELECT '${name}' AS name, count() AS rows, sum(cityHash64(*)) AS sum FROM metergate.${name}`;
  });
  const ofTables = `
    SELECT name, create_table_query FROM system.tables WHERE database = 'metergate' ORDER BY name`;
  return [
    ...(await queryWarehouse(paths, `SELECT * FROM (${sums.join(' UNION ALL ')}) ORDER BY name`)),
    ...(await queryWarehouse(paths, ofTables)),
  ];
}

const TIMEOUT_MS = 10_000;

/** Rows of the warehouse of a folder that no process uses. */
export async function queryWarehouse<Row extends object>(
  { warehouse: directory }: DataDir,
  sql: string,
): Promise<Row[]> {
  const warehouse = createChdbWarehouse({ directory, log: pino({ level: 'silent' }) });
  try {
    return await warehouse.query<Row>({ sql, connection: 'load', timeoutMs: TIMEOUT_MS });
  } finally {
    await warehouse.close();
  }
}

/** Numbers of this release's migrations of ClickHouse, ascending. */
export function warehouseMigrations(): number[] {
  const names = readdirSync(join('infra', 'migrations', 'clickhouse'));
  return names.flatMap((name) => Number(/^\d{4}(?=_)/.exec(name)?.[0] ?? []) || []).sort((a, b) => a - b);
}
