import { createClickHouseWarehouse } from '../../infra/clickhouse/clickhouse-warehouse.ts';
import { setEventsRetention } from '../../infra/clickhouse/events-retention.ts';
import { onCluster } from '../../infra/clickhouse/on-cluster.ts';
import { stampsInFolder, stampsInTable } from '../../infra/clickhouse/warehouse-stamps.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { WarehouseStamps } from '../../infra/ports/warehouse-stamps.ts';
import type { RoleContext } from './role-process.ts';

export interface OpenedWarehouse {
  warehouse: Warehouse;
  /** Has it keep events for as long as configured. After its migration. */
  setRetention(): Promise<void>;
  /** Which warehouse it identifies as. */
  stamps: WarehouseStamps;
  /** A statement that makes or changes a table, in the form that reaches every server with the data. */
  everywhere(sql: string): string;
}

/** The operator's ClickHouse, or the embedded one in the directory, which ends the process when stuck. */
export async function openWarehouse(context: RoleContext, directory: string): Promise<OpenedWarehouse> {
  const { config, closer } = context;
  const { eventsRetentionDays, clickhouseCluster: cluster } = config;
  const warehouse = await createWarehouse(context, directory);
  closer.add('warehouse', { close: () => warehouse.close() });
  const everywhere = (sql: string) => (cluster === undefined ? sql : onCluster(sql, cluster));
  return {
    warehouse,
    setRetention: () => setEventsRetention(warehouse, eventsRetentionDays, everywhere),
    stamps: config.clickhouseUrl ? stampsInTable(warehouse, everywhere) : stampsInFolder(directory),
    everywhere,
  };
}

async function createWarehouse({ config, log, fail }: RoleContext, directory: string): Promise<Warehouse> {
  const own = log.child({ component: 'warehouse' });
  const { clickhouseUrl: url, clickhouseCluster: cluster } = config;
  if (url) return createClickHouseWarehouse({ url, cluster, log: own });
  // Half a gigabyte of engine: only a process that uses it loads it.
  const { createChdbWarehouse } = await import('../../infra/clickhouse/embedded/chdb-warehouse.ts');
  return createChdbWarehouse({ directory, log: own, onStuck: fail });
}
