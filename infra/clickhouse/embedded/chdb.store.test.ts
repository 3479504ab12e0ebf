import { SILENT } from '../../../tests/support/silent-log.ts';
import { testFolder } from '../../../tests/support/test-folder.ts';
import { warehouseConformance } from '../../ports/conformance/warehouse.ts';
import { createChdbWarehouse } from './chdb-warehouse.ts';

async function createHarness() {
  const directory = testFolder();
  return { open: async () => createChdbWarehouse({ directory, log: SILENT }) };
}

warehouseConformance('chdb', createHarness, { damageIsRepaired: true });
