import type { Statement, Warehouse } from '../../infra/ports/warehouse.ts';
import { differentProperties } from '../../schemas/stored/usage-by-property.ts';
import { addTo, type HourKey, type HourSums, keyText } from './hour-sums.ts';

/** A part of all customers, so that the sums of one part fit in memory. */
export interface Slice {
  number: number;
  of: number;
}

const TIMEOUT_MS = 300_000;

/** The hourly sums, from a given time on. */
export function rollupSums(warehouse: Warehouse, slice: Slice, hoursFromMs: number): Promise<HourSums> {
  return sums(
    warehouse,
    `SELECT environment, customer_id AS customerId, meter_key AS meterKey, toUnixTimestamp(hour) AS begin,
            sum(u.total) AS total, sum(u.events) AS events
     FROM metergate.usage_hourly AS u
     WHERE CRC32(customer_id) % {of:UInt32} = {number:UInt32}
       AND hour >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
     GROUP BY environment, customer_id, meter_key, begin`,
    { ...slice, from: hoursFromMs },
  );
}

/** Sums of the stored events from a given time on, for events that were created since another time. */
export function eventSums(
  warehouse: Warehouse,
  slice: Slice,
  { hoursFromMs, sinceMs }: { hoursFromMs: number; sinceMs: number },
): Promise<HourSums> {
  return sums(
    warehouse,
    `SELECT environment, customer_id AS customerId, meter_key AS meterKey,
            toUnixTimestamp(toStartOfHour(occurred_at)) AS begin, sum(value) AS total, count() AS events
     FROM metergate.events FINAL
     WHERE CRC32(customer_id) % {of:UInt32} = {number:UInt32}
       AND occurred_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
       AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
     GROUP BY environment, customer_id, meter_key, begin`,
    { ...slice, from: hoursFromMs, since: sinceMs },
  );
}

/**
 * Hours whose rows by property differ from the stored events, with what differs of them. Hours that differ as
 * a whole are among them.
 */
export async function differentByProperty(
  warehouse: Warehouse,
  slice: Slice,
  { hoursFromMs, limit }: { hoursFromMs: number; limit: number },
): Promise<HourDifferences> {
  const isOfSlice = 'CRC32(customer_id) % {of:UInt32} = {number:UInt32}';
  const from = "fromUnixTimestamp64Milli({from:Int64}, 'UTC')";
  const rows = await warehouse.query<Record<'expectedEvents' | 'foundEvents', string> & DifferentRow>({
    sql: `SELECT environment, customer_id AS customerId, meter_key AS meterKey,
                 toUnixTimestamp(begin) AS hour,
                 sum(expectedEvents) AS expectedEvents, toString(sum(expectedTotal)) AS expectedTotal,
                 sum(foundEvents) AS foundEvents, toString(sum(foundTotal)) AS foundTotal
          FROM (${differentProperties({
            events: `metergate.events FINAL WHERE ${isOfSlice} AND occurred_at >= ${from}`,
            rows: `metergate.usage_by_property WHERE ${isOfSlice} AND hour >= ${from}`,
          })})
          GROUP BY environment, customerId, meterKey, hour LIMIT {limit:UInt32}`,
    params: { ...slice, from: hoursFromMs, limit },
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  const sums: HourDifferences = { expected: new Map(), found: new Map() };
  for (const { expectedEvents, expectedTotal, foundEvents, foundTotal, ...names } of rows) {
    addTo(sums.expected, keyText(names), expectedTotal, Number(expectedEvents));
    addTo(sums.found, keyText(names), foundTotal, Number(foundEvents));
  }
  return sums;
}

/** Of the same hours. */
export type HourDifferences = Record<'expected' | 'found', HourSums>;

interface DifferentRow extends HourKey {
  expectedTotal: string;
  foundTotal: string;
}

/** Hours of all meters of all customers, about. */
export async function countHours(warehouse: Warehouse): Promise<number> {
  const [row] = await warehouse.query<{ hours: string }>({
    sql: 'SELECT uniq(environment, customer_id, meter_key, hour) AS hours FROM metergate.usage_hourly',
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  return Number(row?.hours ?? 0);
}

interface Row {
  environment: string;
  customerId: string;
  meterKey: string;
  begin: number;
  total: string;
  events: string;
}

async function sums(
  warehouse: Warehouse,
  sql: string,
  params: NonNullable<Statement['params']>,
): Promise<HourSums> {
  // The load is paused, so its connection is free. On the connection for long reads, breakdowns would wait.
  const rows = await warehouse.query<Row>({ sql, params, connection: 'load', timeoutMs: TIMEOUT_MS });
  const found: HourSums = new Map();
  for (const { begin, total, events, ...names } of rows) {
    addTo(found, keyText({ ...names, hour: begin }), total, Number(events));
  }
  return found;
}
