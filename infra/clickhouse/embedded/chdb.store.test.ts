import { warehouseConformance } from '../../ports/conformance/warehouse.ts';
import { createChdbHarness } from './chdb-under-test.ts';

warehouseConformance('chdb', createChdbHarness);
