import { onTestFinished } from 'vitest';
import { emptyWarehouseFolder, releaseEngine } from '../../../tests/support/kept-engine.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import type { WarehouseHarness } from '../../ports/conformance/warehouse.ts';
import { createChdbWarehouse } from './chdb-warehouse.ts';

/** An empty warehouse in process. */
export async function createChdbHarness(): Promise<WarehouseHarness> {
  const directory = await emptyWarehouseFolder();
  let isOpened = false;
  return {
    async open() {
      // What is opened again is read from the disk.
      if (isOpened) await releaseEngine(onTestFinished);
      isOpened = true;
      return createChdbWarehouse({ directory, log: SILENT });
    },
  };
}
