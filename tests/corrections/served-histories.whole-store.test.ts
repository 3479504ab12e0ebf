import { expect, it, onTestFinished } from 'vitest';
import { createClickHouseWarehouse } from '../../infra/clickhouse/clickhouse-warehouse.ts';
import { startChdbHttpServer } from '../servers/chdb-http-server.ts';
import { SILENT } from '../support/silent-log.ts';
import { testFolder } from '../support/test-folder.ts';
import { compareHistories } from './compare-histories.ts';

/** Red where a parameter is none that a server takes in the body of a request. */
it('a ClickHouse server reads usage after changes as if nothing wrong had ever been sent', async () => {
  const server = await startChdbHttpServer(testFolder());
  onTestFinished(() => server.close());
  const warehouse = createClickHouseWarehouse({ url: server.url, log: SILENT });
  onTestFinished(() => warehouse.close());
  await warehouse.migrate();
  await compareHistories(warehouse, { count: 4, seed: 251 });
  expect.hasAssertions();
});
