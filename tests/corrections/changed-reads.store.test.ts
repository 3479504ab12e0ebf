import { it } from 'vitest';
import { warehouseOfThisFile } from '../support/log-and-warehouse.ts';
import { compareHistories } from './compare-histories.ts';

const warehouse = await warehouseOfThisFile();

/** Red where a change is counted that is hidden, a void adds, or hours with voids are read of the rollup. */
it('usage after changes reads as if nothing wrong had ever been sent', () =>
  compareHistories(warehouse, { count: 4, seed: 251 }));
