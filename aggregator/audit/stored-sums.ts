import type { Statement, Warehouse } from '../../infra/ports/warehouse.ts';
import { EVENT_COLUMNS } from '../../schemas/stored/event-row.ts';
import { BY_PROPERTY_COLUMNS, differentProperties } from '../../schemas/stored/usage-by-property.ts';
import { takenAway } from '../../schemas/stored/usage-hourly.ts';
import { addTo, type HourKey, type HourSums, keyText } from './hour-sums.ts';

/** A part of all customers, so that the sums of one part fit in memory. */
export interface Slice {
  number: number;
  of: number;
}

const TIMEOUT_MS = 300_000;

/**
 * The hourly sums, from a given time on: with those of changes of usage, whether or not they are visible,
 * less what these take away.
 */
export function rollupSums(warehouse: Warehouse, slice: Slice, hoursFromMs: number): Promise<HourSums> {
  return sums(
    warehouse,
    `SELECT environment, customer_id AS customerId, meter_key AS meterKey, toUnixTimestamp(hour) AS begin,
            sum(u.total) AS total, sum(u.events) AS events
     FROM (${['usage_hourly', 'change_hourly'].map(hoursOf).join(' UNION ALL ')}) AS u
     GROUP BY environment, customer_id, meter_key, begin`,
    { ...slice, from: hoursFromMs },
  );
}

function hoursOf(table: string): string {
  return `SELECT environment, customer_id, meter_key, hour, t.total AS total, t.events AS events
     FROM metergate.${table} AS t
     WHERE CRC32(customer_id) % {of:UInt32} = {number:UInt32}
       AND hour >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')`;
}

export interface StoredEvents {
  hoursFromMs: number;
  /** Events that were created since then. */
  sinceMs: number;
  /** Of voided events: whether they are subtracted, as in the hours, or counted, as records on the log. */
  voided: 'subtracted' | 'counted';
}

/** Sums of the stored events, with those of changes of usage, whether or not these are visible. */
export function eventSums(
  warehouse: Warehouse,
  slice: Slice,
  { hoursFromMs, sinceMs, voided }: StoredEvents,
): Promise<HourSums> {
  const ofVoided = voided === 'counted' ? COUNTED : COUNTED.map(takenAway);
  const parts = [
    eventsOf('events', COUNTED),
    eventsOf('change_events', COUNTED),
    eventsOf('voided_events', ofVoided),
  ];
  return sums(
    warehouse,
    `SELECT environment, customerId, meterKey, begin, sum(e.total) AS total, sum(e.events) AS events
     FROM (${parts.join(' UNION ALL ')}) AS e
     GROUP BY environment, customerId, meterKey, begin`,
    { ...slice, from: hoursFromMs, since: sinceMs },
  );
}

const COUNTED = ['sum(value)', 'count()'];

function eventsOf(table: string, [total, events]: readonly string[]): string {
  return `SELECT environment, customer_id AS customerId, meter_key AS meterKey,
            toUnixTimestamp(toStartOfHour(occurred_at)) AS begin, ${total} AS total, ${events} AS events
     FROM metergate.${table} FINAL
     WHERE CRC32(customer_id) % {of:UInt32} = {number:UInt32}
       AND occurred_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
       AND created_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
     GROUP BY environment, customer_id, meter_key, begin`;
}

/** Whether any event was ever voided. */
export async function hasVoidedEvents(warehouse: Warehouse): Promise<boolean> {
  const rows = await warehouse.query<{ found: number }>({
    sql: 'SELECT 1 AS found FROM metergate.voided_events LIMIT 1',
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  return rows.length > 0;
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
  const [ofEvents, ofRows] = ['occurred_at', 'hour'].map(
    (time) => ` WHERE ${isOfSlice} AND ${time} >= ${from}`,
  ) as [string, string];
  const rows = await warehouse.query<Record<'expectedEvents' | 'foundEvents', string> & DifferentRow>({
    sql: `SELECT environment, customer_id AS customerId, meter_key AS meterKey,
                 toUnixTimestamp(begin) AS hour,
                 sum(expectedEvents) AS expectedEvents, toString(sum(expectedTotal)) AS expectedTotal,
                 sum(foundEvents) AS foundEvents, toString(sum(foundTotal)) AS foundTotal
          FROM (${differentProperties({
            events: bothOf(['events', 'change_events'], EVENT_COLUMNS.join(', '), ` FINAL ${ofEvents}`),
            voided: `metergate.voided_events FINAL ${ofEvents}`,
            rows: bothOf(['usage_by_property', 'change_by_property'], BY_PROPERTY_COLUMNS, ofRows),
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

function bothOf(tables: readonly string[], columns: string, rest: string): string {
  return `(${tables.map((table) => `SELECT ${columns} FROM metergate.${table}${rest}`).join(' UNION ALL ')})`;
}

/** Of the same hours. */
export type HourDifferences = Record<'expected' | 'found', HourSums>;

interface DifferentRow extends HourKey {
  expectedTotal: string;
  foundTotal: string;
}

const HOUR = 'environment, customer_id, meter_key, hour';

/** Hours of all meters of all customers, about. */
export async function countHours(warehouse: Warehouse): Promise<number> {
  const [row] = await warehouse.query<{ hours: string }>({
    sql: `SELECT uniq(${HOUR}) AS hours
            FROM ${bothOf(['usage_hourly', 'change_hourly'], HOUR, '')}`,
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
