import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fatal } from '../../schemas/failures.ts';
import { writeDurably } from '../platform/durable-file.ts';
import type { Warehouse } from '../ports/warehouse.ts';
import type { WarehouseStamp, WarehouseStamps } from '../ports/warehouse-stamps.ts';

const FILE = 'metergate-stamp.json';

/**
 * For the embedded engine, in its folder. A file and no table: a full disk may damage parts of a table, which
 * is repaired automatically, and would look like a lost warehouse.
 */
export function stampsInFolder(directory: string): WarehouseStamps {
  const file = join(directory, FILE);
  return {
    place: `The folder ${directory}`,
    async read() {
      return existsSync(file) ? [readStamp(file)] : [];
    },
    write: async (stamp) => writeDurably(file, JSON.stringify(stamp)),
  };
}

/** It is written whole or not at all: no crash of ours leaves half of one. */
function readStamp(file: string): WarehouseStamp {
  const { id, stamp } = parsed(readFileSync(file, 'utf8'));
  if (typeof id === 'string' && typeof stamp === 'number') return { id, stamp };
  throw new Fatal(
    'warehouse_stamp_damaged',
    `${file} cannot be read: restore the folder of the warehouse from the backup of DATA_DIR.`,
  );
}

function parsed(text: string): Partial<WarehouseStamp> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

const TIMEOUT_MS = 10_000;

/** Of a server. */
export function stampsInTable(
  warehouse: Pick<Warehouse, 'query'>,
  everywhere: (sql: string) => string,
): WarehouseStamps {
  const query = <Row>(sql: string, params: Record<string, string | number> = {}) =>
    warehouse.query<Row>({ sql, params, connection: 'load', timeoutMs: TIMEOUT_MS });

  return {
    place: 'The ClickHouse of CLICKHOUSE_URL',
    async read() {
      const [table] = await query(
        `SELECT name FROM system.tables WHERE database = 'metergate' AND name = 'warehouse_stamps'`,
      );
      if (!table) return [];
      const rows = await query<{ id: string; stamp: string }>(
        'SELECT id, toString(max(stamp)) AS stamp FROM metergate.warehouse_stamps GROUP BY id',
      );
      return rows.map(({ id, stamp }) => ({ id, stamp: Number(stamp) }));
    },
    async write({ id, stamp }) {
      await query(
        everywhere(
          `CREATE TABLE IF NOT EXISTS metergate.warehouse_stamps (id String, stamp UInt64)
           ENGINE = ReplacingMergeTree(stamp) ORDER BY id
           SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
        ),
      );
      // Releases of ClickHouse differ in whether they deduplicate INSERT SELECT, and each is another one.
      await query(
        `INSERT INTO metergate.warehouse_stamps (id, stamp) SETTINGS insert_deduplicate = 0
         SELECT {id:String}, {stamp:UInt64}`,
        { id, stamp },
      );
    },
  };
}
