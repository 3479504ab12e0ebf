import { createChdbConnection } from 'chdb/connection';
import { expect, it, onTestFinished } from 'vitest';
import { onCluster } from '../../infra/clickhouse/on-cluster.ts';
import { eventLines } from '../../tests/support/event-line.ts';
import { testWarehouse } from '../../tests/support/log-and-warehouse.ts';
import { testFolder } from '../../tests/support/test-folder.ts';
import { ensureEventIds } from './event-ids.ts';

const TIMEOUT_MS = 60_000;
const HOUR_MS = 3_600_000;

it('a cluster makes and changes the table of ids on every server, as ClickHouse reads it', async () => {
  const notified: string[] = [];
  const query = async <Row>({ sql }: { sql: string }): Promise<Row[]> => {
    if (!sql.startsWith('SELECT')) notified.push(sql);
    return [
      { engine: 'ReplicatedReplacingMergeTree TTL toDateTime(created_at) + toIntervalHour(95)' },
    ] as Row[];
  };
  await ensureEventIds({ query }, 96, (sql) => onCluster(sql, 'usage'));
  expect(notified).toHaveLength(4);
  expect(notified.filter((sql) => !sql.includes('ON CLUSTER `usage`'))).toEqual([]);
  expect(notified[0]).toMatch(/ENGINE = ReplicatedReplacingMergeTree\(/);
  const connection = createChdbConnection({ path: testFolder() });
  onTestFinished(() => connection.close());
  for (const sql of notified) {
    const tree = await connection.chdb.queryAsync(`EXPLAIN AST ${sql}`);
    expect(Buffer.from(tree.bytes()).toString()).toMatch(/CreateQuery|AlterQuery/);
  }
});

// Red when the first start decides forever: a key that is kept for longer outlives the id of its event.
it('ids are kept for the longest time ever configured, also those already stored', async () => {
  const warehouse = await testWarehouse();
  const createdAtMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const keptHours = async (requested: number) => {
    await ensureEventIds(warehouse, requested);
    const [row] = await warehouse.query<{ until: string }>({
      sql: `SELECT toString(toUnixTimestamp(delete_ttl_info_max)) AS until FROM system.parts
            WHERE database = 'metergate' AND table = 'event_ids' AND active`,
      connection: 'load',
      timeoutMs: TIMEOUT_MS,
    });
    return (Number(row?.until) * 1_000 - createdAtMs) / HOUR_MS;
  };
  await ensureEventIds(warehouse, 96);
  const lines = eventLines([{ id: 'use_1', createdAtMs }]);
  await warehouse.insertEvents({ token: 'a', lines, timeoutMs: TIMEOUT_MS });
  const kept: number[] = [];
  for (const requested of [96, 120, 96, 121]) kept.push(await keptHours(requested));
  expect(kept).toEqual([96, 120, 120, 121]);
});
