import { createChdbConnection } from 'chdb/connection';
import { expect, it, onTestFinished } from 'vitest';
import { onCluster } from '../../infra/clickhouse/on-cluster.ts';
import { testFolder } from '../../infra/test-folder.ts';
import { ensureEventIds } from './event-ids.ts';

it('a cluster makes the table of ids on every server, as ClickHouse reads it', async () => {
  const told: string[] = [];
  const query = async ({ sql }: { sql: string }) => {
    told.push(onCluster(sql, 'usage'));
    return [];
  };
  await ensureEventIds({ query }, 96);
  expect(told.filter((sql) => !sql.includes('ON CLUSTER `usage`'))).toEqual([]);
  expect(told[0]).toMatch(/ENGINE = ReplicatedReplacingMergeTree\(/);
  const connection = createChdbConnection({ path: testFolder() });
  onTestFinished(() => connection.close());
  for (const sql of told) {
    const tree = await connection.chdb.queryAsync(`EXPLAIN AST ${sql}`);
    expect(Buffer.from(tree.bytes()).toString()).toContain('CreateQuery');
  }
});
