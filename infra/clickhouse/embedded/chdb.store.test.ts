import { putMigratedWarehouse } from '../../../tests/support/migrated-warehouse.ts';
import { SILENT } from '../../../tests/support/silent-log.ts';
import { testFolder } from '../../../tests/support/test-folder.ts';
import { warehouseConformance } from '../../ports/conformance/warehouse.ts';
import { createChdbWarehouse } from './chdb-warehouse.ts';

async function createHarness() {
  const directory = testFolder();
  await putMigratedWarehouse(directory);
  return { open: async () => createChdbWarehouse({ directory, log: SILENT }) };
}

warehouseConformance('chdb', createHarness, { damageIsRepaired: true });
