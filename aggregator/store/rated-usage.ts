import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { HOUR_MS } from '../../schemas/primitives/calendar.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import type { Queryable } from './queryable.ts';
import type { MeterPlace } from './watched-meters.ts';

const TIMEOUT_MS = 60_000;

/** All meters that have, or had, a rate. */
export async function readMetersWithRates(db: Queryable): Promise<MeterPlace[]> {
  const { rows } = await db.query<MeterPlace>(
    `SELECT DISTINCT environment, meter_key AS "meterKey" FROM meter_rates
      ORDER BY environment, meter_key`,
  );
  return rows;
}

/**
 * Customers that used a meter, in the order of ids, with the hours of their first and last event; also events
 * of changes of usage, visible or not, and those that are voided.
 */
export async function readUsersOf(
  warehouse: Pick<Warehouse, 'query'>,
  { environment, meterKey }: MeterPlace,
  { after, fromMs, limit }: { after: string; fromMs: number; limit: number },
): Promise<TouchedCustomerMeter[]> {
  const rows = await warehouse.query<{ customer: string; first: string; last: string }>({
    sql: `SELECT customer_id AS customer, toString(toUnixTimestamp(min(hour))) AS first,
                 toString(toUnixTimestamp(max(hour))) AS last
            FROM (${['usage_hourly', 'change_hourly']
              .map((table) => `SELECT customer_id, hour FROM metergate.${table} ${USED_SINCE}`)
              .join(' UNION ALL ')})
           GROUP BY customer_id ORDER BY customer_id LIMIT {limit:UInt32}`,
    params: { environment, meter: meterKey, after, from: Math.floor(fromMs / HOUR_MS) * 3600, limit },
    connection: 'settlement',
    timeoutMs: TIMEOUT_MS,
  });
  return rows.map(({ customer, first, last }) => ({
    environment,
    customerId: customer,
    meterKey,
    occurredFromMs: Number(first) * 1_000,
    occurredToMs: Number(last) * 1_000 + HOUR_MS - 1,
  }));
}

const USED_SINCE = `WHERE environment = {environment:String} AND customer_id > {after:String}
             AND meter_key = {meter:String} AND hour >= toDateTime({from:Int64}, 'UTC')`;

/** Of these customers those that used the meter, as above. */
export async function readUsersAmong(
  warehouse: Pick<Warehouse, 'query'>,
  { environment, meterKey }: MeterPlace,
  { customerIds, fromMs }: { customerIds: string[]; fromMs: number },
): Promise<Set<string>> {
  const rows = await warehouse.query<{ customer: string }>({
    sql: ['usage_hourly', 'change_hourly']
      .map(
        (table) => `SELECT DISTINCT customer_id AS customer FROM metergate.${table}
           WHERE environment = {environment:String} AND customer_id IN {customers:Array(String)}
             AND meter_key = {meter:String} AND hour >= toDateTime({from:Int64}, 'UTC')`,
      )
      .join(' UNION ALL '),
    params: {
      environment,
      meter: meterKey,
      customers: customerIds,
      from: Math.floor(fromMs / HOUR_MS) * 3600,
    },
    connection: 'settlement',
    timeoutMs: TIMEOUT_MS,
  });
  return new Set(rows.map(({ customer }) => customer));
}
