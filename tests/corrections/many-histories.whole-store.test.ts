import { expect, it, onTestFinished } from 'vitest';
import { createClickHouseWarehouse } from '../../infra/clickhouse/clickhouse-warehouse.ts';
import { startChdbHttpServer } from '../servers/chdb-http-server.ts';
import { testWarehouse } from '../support/log-and-warehouse.ts';
import { SILENT } from '../support/silent-log.ts';
import { testFolder } from '../support/test-folder.ts';
import { compareHistories } from './compare-histories.ts';

/** The long form: CORRECTION_HISTORIES=5000. */
const COUNT = Number(process.env.CORRECTION_HISTORIES ?? 40);
const SEED = Number(process.env.CORRECTION_SEED ?? 1);
const LIMIT = { timeout: 14_400_000 };

it('usage after many random changes reads as if nothing wrong had ever been sent', LIMIT, async () => {
  await compareHistories(await testWarehouse(), { count: COUNT, seed: SEED });
  expect.hasAssertions();
});

it(
  'a ClickHouse server reads usage after changes as if nothing wrong had ever been sent',
  LIMIT,
  async () => {
    const server = await startChdbHttpServer(testFolder());
    onTestFinished(() => server.close());
    const warehouse = createClickHouseWarehouse({ url: server.url, log: SILENT });
    onTestFinished(() => warehouse.close());
    await warehouse.migrate();
    await compareHistories(warehouse, { count: 4, seed: SEED });
    expect.hasAssertions();
  },
);
