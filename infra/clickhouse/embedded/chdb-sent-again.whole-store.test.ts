import { sentAgainConformance } from '../../ports/conformance/warehouse.ts';
import { createChdbHarness } from './chdb-under-test.ts';

sentAgainConformance('chdb', createChdbHarness, true);
