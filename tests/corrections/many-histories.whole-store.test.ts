import { it } from 'vitest';
import { warehouseOfThisFile } from '../support/log-and-warehouse.ts';
import { compareHistories } from './compare-histories.ts';

/** The long form: CORRECTION_HISTORIES=5000. */
const COUNT = Number(process.env.CORRECTION_HISTORIES ?? 40);
const SEED = Number(process.env.CORRECTION_SEED ?? 1);
const warehouse = await warehouseOfThisFile();

it(
  'usage after many random changes reads as if nothing wrong had ever been sent',
  { timeout: 7_200_000 },
  () => compareHistories(warehouse, { count: COUNT, seed: SEED }),
);
