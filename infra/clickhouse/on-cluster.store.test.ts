import { readdirSync, readFileSync } from 'node:fs';
import { createChdbConnection } from 'chdb/connection';
import { expect, it, onTestFinished } from 'vitest';
import { testFolder } from '../../tests/support/test-folder.ts';
import type { Warehouse } from '../ports/warehouse.ts';
import { setEventsRetention } from './events-retention.ts';
import { migrateWarehouse } from './migrate-warehouse.ts';
import { onCluster } from './on-cluster.ts';
import type { Transport } from './transport.ts';

/** The statements of all migrations of this release for a cluster. No cluster is available here. */
async function notified(): Promise<string[]> {
  const statements: string[] = [];
  const transport: Transport = {
    rows: async () => [],
    command: async (sql) => void statements.push(sql),
    insert: async () => undefined,
    insertRows: async () => undefined,
    close: async () => undefined,
  };
  await migrateWarehouse(transport, {}, 'usage');
  return [...statements, ...(await notifiedOfRetention())];
}

/** Red when settings are changed on one server alone: of copies each keeps its own. */
async function notifiedOfRetention(): Promise<string[]> {
  const statements: string[] = [];
  // Queried for how the table was made, ClickHouse shows no TTL.
  const warehouse: Pick<Warehouse, 'query'> = {
    query: async ({ sql }) => {
      if (!sql.startsWith('SELECT')) statements.push(sql);
      return [];
    },
  };
  await setEventsRetention(warehouse, 500, (sql) => onCluster(sql, 'usage'));
  return statements;
}

it('what keeps rows is made on every server of a cluster, as copies with a window of tokens', async () => {
  const statements = await notified();
  const settings = statements.filter((one) => / MODIFY (SETTING|TTL) /.test(one));
  expect(settings).toHaveLength(16);
  // Together with columns one server alone would take them.
  expect(settings.filter((one) => one.includes('MODIFY COLUMN'))).toEqual([]);
  const changes = statements.filter((one) => !/^\s*INSERT/.test(one));
  expect(changes.filter((one) => !one.includes('ON CLUSTER `usage`'))).toEqual([]);
  const kept = statements.filter((one) => /ENGINE = \w*MergeTree/.test(one));
  expect(kept.length).toBeGreaterThan(2);
  expect(kept.filter((one) => !one.includes('ENGINE = Replicated'))).toEqual([]);
  expect(statements.join()).not.toContain('non_replicated');
  const windows = 'replicated_deduplication_window = 10000, replicated_deduplication_window_seconds = 604800';
  expect(statements.filter((one) => one.includes(windows)).length).toBeGreaterThan(1);
});

it('an engine keeps its own options behind the name of its copy', () => {
  const statement =
    'CREATE TABLE IF NOT EXISTS metergate.t (a Int8) ENGINE = ReplacingMergeTree(a) ORDER BY a';
  expect(onCluster(statement, 'c')).toBe(
    'CREATE TABLE IF NOT EXISTS metergate.t ON CLUSTER `c` (a Int8) ' +
      "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', a) ORDER BY a",
  );
});

it('a statement that cannot run on a cluster is rejected before it is sent', () => {
  expect(() => onCluster('RENAME TABLE metergate.a TO metergate.b', 'c')).toThrow('cannot run on a cluster');
});

it('ClickHouse parses every statement for a cluster', async () => {
  const connection = createChdbConnection({ path: testFolder() });
  onTestFinished(() => connection.close());
  for (const statement of await notified()) {
    if (/^\s*INSERT/.test(statement)) continue;
    const tree = await connection.chdb.queryAsync(
      `EXPLAIN AST ${statement.replace(/^\s*(--[^\n]*\n\s*)*/, '')}`,
    );
    expect(Buffer.from(tree.bytes()).toString()).toMatch(/Query|Create|Alter/);
  }
});

it('no migration contains ON CLUSTER itself', () => {
  const folder = 'infra/migrations/clickhouse';
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  expect(files.filter((name) => readFileSync(`${folder}/${name}`, 'utf8').includes('ON CLUSTER'))).toEqual(
    [],
  );
});
