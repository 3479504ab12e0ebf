import { afterAll, onTestFinished } from 'vitest';
import { createChdbWarehouse } from '../../infra/clickhouse/embedded/chdb-warehouse.ts';
import type { EventLogReader, EventLogWriter } from '../../infra/ports/event-log.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { openSegmentLogReader } from '../../infra/segment-log/reader.ts';
import { openSegmentLogWriter } from '../../infra/segment-log/writer.ts';
import { emptyWarehouseFolder } from './kept-engine.ts';
import { SILENT } from './silent-log.ts';
import { type AtEnd, folderUntil } from './test-folder.ts';

/** Real and empty, in folders of their own. */
export interface LogAndWarehouse {
  logDirectory: string;
  writer: EventLogWriter;
  reader: EventLogReader;
  warehouse: Warehouse;
}

export async function openLogAndWarehouse(
  atEnd: AtEnd,
  options: { segmentBytesMax?: number } = {},
): Promise<LogAndWarehouse> {
  // Opened first and closed last: a statement that comes after its end would open the engine again.
  const warehouse = await openWarehouse(atEnd);
  const directory = folderUntil(atEnd);
  const writer = await openSegmentLogWriter({
    directory,
    identityCheck: Buffer.alloc(16),
    log: SILENT,
    ...options,
  });
  atEnd(() => writer.close());
  const reader = await openSegmentLogReader({ directory });
  atEnd(() => reader.close());
  return { logDirectory: directory, writer, reader, warehouse };
}

/** For the running test. */
export function testWarehouse(): Promise<Warehouse> {
  return openWarehouse(onTestFinished);
}

/** One that all tests of a file share. */
export function warehouseOfThisFile(): Promise<Warehouse> {
  return openWarehouse(afterAll);
}

/** Empty: in the engine that is kept for this file. */
async function openWarehouse(atEnd: AtEnd): Promise<Warehouse> {
  const directory = await emptyWarehouseFolder();
  const warehouse = createChdbWarehouse({ directory, log: SILENT });
  atEnd(() => warehouse.close());
  return warehouse;
}
