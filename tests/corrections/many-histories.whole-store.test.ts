import { expect, it } from 'vitest';
import { testWarehouse } from '../support/log-and-warehouse.ts';
import { compareHistories } from './compare-histories.ts';

/** The long form: CORRECTION_HISTORIES=5000. */
const COUNT = Number(process.env.CORRECTION_HISTORIES ?? 40);
const SEED = Number(process.env.CORRECTION_SEED ?? 1);
const LIMIT = { timeout: 14_400_000 };

it('usage after many random changes reads as if nothing wrong had ever been sent', LIMIT, async () => {
  await compareHistories(await testWarehouse(), { count: COUNT, seed: SEED });
  expect.hasAssertions();
});
