import type { Warehouse } from '../ports/warehouse.ts';

/**
 * All tables of usage delete whole months of occurredAt, the same ones at the same time
 * (domain/rules/events-retention.ts): a counter adds hours of one to edges of the other.
 */
const TABLES = [
  { name: 'events', time: 'occurred_at' },
  { name: 'usage_hourly', time: 'hour' },
  { name: 'usage_by_property', time: 'hour' },
  { name: 'change_events', time: 'occurred_at' },
  { name: 'voided_events', time: 'occurred_at' },
  { name: 'change_hourly', time: 'hour' },
  { name: 'change_by_property', time: 'hour' },
];
const TIMEOUT_MS = 60_000;

/**
 * Keeps stored events and hours for so many days, or forever without a number. A second call with the same
 * number changes nothing. Neither tokens nor views are changed. `everywhere`: the form for a cluster, whose
 * servers each keep settings of their own.
 */
export async function setEventsRetention(
  warehouse: Pick<Warehouse, 'query'>,
  days: number | undefined,
  everywhere: (change: string) => string = (change) => change,
): Promise<void> {
  const alter = (table: string, change: string) =>
    warehouse.query({
      sql: everywhere(`ALTER TABLE metergate.${table} ${change}`),
      connection: 'load',
      timeoutMs: TIMEOUT_MS,
    });
  for (const { name, time } of TABLES) {
    const engine = await engineOf(warehouse, name);
    if (days === undefined) {
      if (engine.includes(' TTL ')) await alter(name, 'REMOVE TTL');
    } else if (!isKept(engine, days)) {
      // A month is a partition: parts are deleted whole, and what is stored already is marked and not
      // rewritten.
      await alter(name, 'MODIFY SETTING ttl_only_drop_parts = 1, materialize_ttl_recalculate_only = 1');
      await alter(name, `MODIFY TTL ${endOf(time, days)}`);
    }
  }
}

/** How the table was made, in ClickHouse's words. */
async function engineOf(warehouse: Pick<Warehouse, 'query'>, table: string): Promise<string> {
  const [row] = await warehouse.query<{ engine: string }>({
    sql: `SELECT engine_full AS engine FROM system.tables
          WHERE database = 'metergate' AND name = {table:String}`,
    params: { table },
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  return row?.engine ?? '';
}

/** Not so where a release before this one set it, without the bound of {@link endOf}. */
function isKept(engine: string, days: number): boolean {
  const [, found] = / TTL .*least\(.*toIntervalDay\((\d+)\)/.exec(engine) ?? [];
  return Number(found) === days;
}

/**
 * The time at which a month is deleted. ClickHouse stores it in 32 bits of seconds, which start again at 1970
 * in 2106, also where the expression has 64: 30,000 days deleted everything at once. So it is bounded before.
 */
function endOf(time: string, days: number): string {
  const month = `toDateTime64(toStartOfMonth(${time}), 0, 'UTC')`;
  const end = `${month} + INTERVAL 1 MONTH + INTERVAL ${days} DAY`;
  return `toDateTime(least(${end}, toDateTime64('2100-01-01 00:00:00', 0, 'UTC')), 'UTC')`;
}
