import { afterAll } from 'vitest';
import { startLoadOfThisFile } from '../../tests/support/load-of-this-file.ts';
import { openLogAndWarehouse } from '../../tests/support/log-and-warehouse.ts';
import { ownUsageOf } from '../../tests/support/own-usage-of.ts';
import { apiOfThisFile } from '../api-under-test.ts';
import { reservationsUnderTest } from './reservations-under-test.ts';

/** Reservations whose commits are on a log and loaded into a warehouse. For all tests of a file. */
export async function countedReservationsOfThisFile() {
  const stores = await openLogAndWarehouse(afterAll);
  const api = await apiOfThisFile({
    warehouse: stores.warehouse,
    logReader: stores.reader,
    openUsageWriter: (pool) => ownUsageOf(stores, pool, afterAll),
  });
  await api.request('meters.create', { body: { key: 'sum', name: 'sum', aggregation: 'sum' } });
  startLoadOfThisFile(stores, api);
  return { stores, api, made: await reservationsUnderTest(api) };
}
