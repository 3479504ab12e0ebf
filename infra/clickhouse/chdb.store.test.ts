import { pino } from 'pino';
import { testFolder } from '../../tests/support/test-folder.ts';
import { warehouseConformance } from '../ports/conformance/warehouse.ts';
import { createChdbWarehouse } from './chdb-warehouse.ts';

async function createHarness() {
  const directory = testFolder();
  return { open: async () => createChdbWarehouse({ directory, log: pino({ level: 'silent' }) }) };
}

warehouseConformance('chdb', createHarness, { damageIsRepaired: true });
