import { join } from 'node:path';
import { createClickHouseWarehouse } from '../../infra/clickhouse/clickhouse-warehouse.ts';
import { createChdbWarehouse } from '../../infra/clickhouse/embedded/chdb-warehouse.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { decodeFrame } from '../../schemas/stored/frame.ts';
import { eventIdsOf } from '../../schemas/stored/record.ts';
import type { Ledger } from './ledger.ts';
import { SILENT } from './silent-log.ts';

const READ_BYTES = 4 * 1024 * 1024;
const SHOWN = 5;

/** How the log differs from the ledger: the log has each acknowledged event once, and nothing else. */
export async function compareLog(dataDir: string, ledger: Ledger): Promise<string[]> {
  const missing = new Set([...ledger.events()].map(({ id }) => id));
  const found: string[] = [];
  for await (const id of idsOnLog(dataDir)) {
    if (!missing.delete(id)) found.push(`${id}: is on the log twice, or was never acknowledged`);
  }
  found.push(...[...missing].map((id) => `${id}: was acknowledged and is not on the log`));
  return found.length > SHOWN ? [...found.slice(0, SHOWN), `and ${found.length - SHOWN} more`] : found;
}

async function* idsOnLog(dataDir: string): AsyncGenerator<string> {
  const reader = await openSegmentLogReader({ directory: join(dataDir, 'log') });
  try {
    for (let from = 0; ; ) {
      const frames = await reader.read(0, from, READ_BYTES);
      if (frames.length === 0) return;
      for (const { bytes, next } of frames) {
        yield* eventIdsOf(decodeFrame(bytes).records);
        from = next;
      }
    }
  } finally {
    await reader.close();
  }
}

/** How the rows of a stopped Metergate's warehouse differ from the ledger. */
export async function compareRows(dataDir: string, ledger: Ledger): Promise<string[]> {
  return await rowFaults(createChdbWarehouse({ directory: join(dataDir, 'warehouse'), log: SILENT }), ledger);
}

/** The same of a ClickHouse server's. */
export async function compareServedRows(url: string, ledger: Ledger): Promise<string[]> {
  return await rowFaults(createClickHouseWarehouse({ url, log: SILENT }), ledger);
}

/**
 * Each event is once in `events`, and once in the hours. Without FINAL, so that a row stored twice is seen
 * before a merge hides it.
 */
async function rowFaults(warehouse: Warehouse, ledger: Ledger): Promise<string[]> {
  try {
    const [seen] = await warehouse.query<Record<string, string>>({
      sql: `SELECT count() AS rows, uniqExact(id) AS ids,
              (SELECT sum(events) FROM metergate.usage_hourly) AS counted FROM metergate.events`,
      connection: 'long',
      timeoutMs: 120_000,
    });
    const expected = String(ledger.size());
    return ['rows', 'ids', 'counted'].flatMap((name) => {
      return seen?.[name] === expected
        ? []
        : [`the warehouse has ${name} ${seen?.[name]}, expected ${expected}`];
    });
  } finally {
    await warehouse.close();
  }
}
