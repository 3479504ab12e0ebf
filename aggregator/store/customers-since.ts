import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { HOUR_MS } from '../../schemas/primitives/calendar.ts';

const TIMEOUT_MS = 15_000;

/**
 * Customers that used a meter since a time, to the hour, in the order of their ids and after `after`; also
 * those of whom a change of usage alone has rows, visible or not.
 */
export async function customersSince(
  warehouse: Warehouse,
  question: { environment: string; meterKey: string; fromMs: number; after: string; limit: number },
): Promise<string[]> {
  const { environment, meterKey, fromMs, after, limit } = question;
  const rows = await warehouse.query<{ customer: string }>({
    sql: `SELECT DISTINCT customer FROM (
            ${['usage_hourly', 'change_hourly'].map(usersOf).join(' UNION ALL ')})
           ORDER BY customer LIMIT {limit:UInt32}`,
    params: { environment, meter: meterKey, hour: Math.floor(fromMs / HOUR_MS) * 3600, after, limit },
    connection: 'settlement',
    timeoutMs: TIMEOUT_MS,
  });
  return rows.map(({ customer }) => customer);
}

function usersOf(table: string): string {
  return `SELECT DISTINCT customer_id AS customer FROM metergate.${table}
           WHERE environment = {environment:String} AND customer_id > {after:String}
             AND meter_key = {meter:String} AND hour >= toDateTime({hour:Int64}, 'UTC')
           ORDER BY customer LIMIT {limit:UInt32}`;
}
