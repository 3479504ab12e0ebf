import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { HOUR_MS } from '../../schemas/primitives/calendar.ts';

const TIMEOUT_MS = 15_000;

/** Customers that used a meter since a time, to the hour, in the order of their ids and after `after`. */
export async function customersSince(
  warehouse: Warehouse,
  question: { environment: string; meterKey: string; fromMs: number; after: string; limit: number },
): Promise<string[]> {
  const { environment, meterKey, fromMs, after, limit } = question;
  const rows = await warehouse.query<{ customer: string }>({
    sql: `SELECT DISTINCT customer_id AS customer FROM metergate.usage_hourly
           WHERE environment = {environment:String} AND customer_id > {after:String}
             AND meter_key = {meter:String} AND hour >= toDateTime({hour:Int64}, 'UTC')
           ORDER BY customer LIMIT {limit:UInt32}`,
    params: { environment, meter: meterKey, hour: Math.floor(fromMs / HOUR_MS) * 3600, after, limit },
    connection: 'settlement',
    timeoutMs: TIMEOUT_MS,
  });
  return rows.map(({ customer }) => customer);
}
