import { onTestFinished } from 'vitest';
import { startChdbHttpServer } from '../../tests/servers/chdb-http-server.ts';
import { SILENT } from '../../tests/support/silent-log.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { sentAgainConformance, warehouseConformance } from '../ports/conformance/warehouse.ts';
import { createClickHouseWarehouse } from './clickhouse-warehouse.ts';

async function createHarness() {
  const server = await startChdbHttpServer(testFolder());
  onTestFinished(() => server.close());
  return {
    open: async () => createClickHouseWarehouse({ url: server.url, log: SILENT }),
  };
}

warehouseConformance('a ClickHouse server', createHarness);
sentAgainConformance('a ClickHouse server', createHarness);
