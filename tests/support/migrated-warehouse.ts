import { cpSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChdbWarehouse } from '../../infra/clickhouse/embedded/chdb-warehouse.ts';
import { SILENT } from './silent-log.ts';

/** One for the process: files that share it may load this module again. */
const kept = globalThis as { metergateTestWarehouse?: Promise<string> };

/**
 * Fills an empty folder with a warehouse that the product migrated, without a row: 60 ms of a processor with
 * its opening, where the migrations themselves take 120 and more with each new one. No warehouse may be open
 * in this process.
 */
export async function putMigratedWarehouse(directory: string): Promise<void> {
  kept.metergateTestWarehouse ??= migratedWarehouse();
  cpSync(await kept.metergateTestWarehouse, directory, { recursive: true });
}

/** Of this run: it goes with its folder (./test-server.ts). */
async function migratedWarehouse(): Promise<string> {
  const parent = process.env.TEST_RUN_FOLDER ?? tmpdir();
  const directory = mkdtempSync(join(parent, 'metergate-test-warehouse-'));
  const warehouse = createChdbWarehouse({ directory, log: SILENT });
  await warehouse.migrate();
  await warehouse.close();
  return directory;
}
