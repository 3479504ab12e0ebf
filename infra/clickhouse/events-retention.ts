import type { Warehouse } from '../ports/warehouse.ts';

/**
 * Both tables forget by whole months of occurredAt, the same ones at the same moment (schemas/rules/
 * events-retention.ts): a counter adds hours of one to edges of the other.
 */
const TABLES = [
  { name: 'events', moment: 'occurred_at' },
  { name: 'usage_hourly', moment: 'hour' },
];
const TIMEOUT_MS = 60_000;

/**
 * Keeps stored events and hours for so many days, or for ever without a number. Again with the same one:
 * nothing changes. Neither tokens nor views are touched.
 */
export async function setEventsRetention(warehouse: Warehouse, days: number | undefined): Promise<void> {
  for (const { name, moment } of TABLES) {
    const before = await retentionOf(warehouse, name);
    if (before === days) continue;
    if (days === undefined) {
      await alter(warehouse, name, 'REMOVE TTL');
      continue;
    }
    // A month is a partition: parts go whole, and what is stored already is marked and not written anew.
    await alter(
      warehouse,
      name,
      'MODIFY SETTING ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1',
    );
    const month = `toDateTime(toStartOfMonth(${moment}), 'UTC')`;
    await alter(warehouse, name, `MODIFY TTL ${month} + INTERVAL 1 MONTH + INTERVAL ${days} DAY`);
  }
}

/** In days; undefined while everything is kept. */
async function retentionOf(warehouse: Warehouse, table: string): Promise<number | undefined> {
  const [row] = await warehouse.query<{ engine: string }>({
    sql: `SELECT engine_full AS engine FROM system.tables
          WHERE database = 'metergate' AND name = {table:String}`,
    params: { table },
    lane: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  const [, days] = / TTL .*toIntervalDay\((\d+)\)/.exec(row?.engine ?? '') ?? [];
  return days === undefined ? undefined : Number(days);
}

async function alter(warehouse: Warehouse, table: string, change: string): Promise<void> {
  const sql = `ALTER TABLE metergate.${table} ${change}`;
  await warehouse.query({ sql, lane: 'load', timeoutMs: TIMEOUT_MS });
}
