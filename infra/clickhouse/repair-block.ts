import { EVENT_COLUMNS } from '../../schemas/stored/event-row.ts';
import {
  BY_PROPERTY_COLUMNS,
  byPropertyOfEvents,
  differentProperties,
} from '../../schemas/stored/usage-by-property.ts';
import { HOURLY_COLUMNS, HOURLY_GROUP, HOURLY_OF_EVENTS } from '../../schemas/stored/usage-hourly.ts';
import type { EventLines } from '../ports/warehouse.ts';
import { unavailable } from './driver-errors.ts';
import type { LineBlock, Transport } from './transport.ts';
import { dropTables, sendToWorkTable, type WorkTables, workTables } from './work-tables.ts';

const COLUMNS = EVENT_COLUMNS.join(', ');
export const HOUR = 'environment, customer_id, meter_key, toStartOfHour(occurred_at)';
export const HOUR_OF_ROW = 'environment, customer_id, meter_key, hour';
/** By which `events` is sorted. */
const KEY = `${HOUR}, id`;
const TIMEOUT_MS = 60_000;

/**
 * Repairs a block that was sent before and again, under the same token. ClickHouse records a token before the
 * part that carries it is in its place, so a kill between the two leaves a part that is lost forever while
 * its token is known (met once in 33 kills). Missing events are put back by themselves; hours that then
 * differ from their events are computed again, unless events of theirs may have been lost with a part. Each
 * step may be interrupted and repeated.
 */
export async function repairBlock(
  transport: Transport<EventLines>,
  { lines, token = '', timeoutMs, eventsMayBeLost }: SentBlock,
): Promise<void> {
  const tables = workTables(token);
  await sendToWorkTable(transport, tables, { lines, timeoutMs });
  // mutant: lost-events-not-put-back
  await putBackEvents(transport, tables, EVENTS);
  // mutant: lost-hours-not-renewed, hours-made-of-what-is-left
  await renewHours(transport, tables, eventsMayBeLost ? LACKS_EVENTS : 'true');
  await checkKept(transport, tables);
  await dropTables(transport, tables);
}

/** A table of events, as a repair of it has to know it. */
export interface EventsTable {
  name: string;
  /** Its columns, and what they are of lines. */
  columns: { into: string; values: string };
  /** By which it is sorted behind {@link KEY}; '' or `, column …`. */
  moreOfKey: string;
  /** Which of its rows may be those of the block. */
  where: string;
}

const EVENTS: EventsTable = {
  name: 'metergate.events',
  columns: { into: COLUMNS, values: COLUMNS },
  moreOfKey: '',
  where: '',
};

export interface SentBlock extends Omit<LineBlock<EventLines>, 'table'> {
  /**
   * With damaged parts: hours that have counted events which are not stored are left to the audit, which
   * repairs them.
   */
  eventsMayBeLost: boolean;
}

/** Whether a start has detached parts whose files are damaged: events of any hour may be lost with them. */
export async function hasDetachedParts(
  transport: Pick<Transport, 'rows'>,
  tables: readonly string[] = ['events'],
): Promise<boolean> {
  const sql = `SELECT toString(count()) AS parts FROM system.detached_parts
    WHERE database = 'metergate' AND reason LIKE 'broken%'
      AND table IN (${tables.map((table) => `'${table}'`).join(', ')})`;
  const [detached] = await transport.rows<{ parts: string }>({
    sql,
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  return detached?.parts !== '0';
}

/**
 * A server that restarted in between has emptied its memory tables: then nothing looked missing, and nothing
 * looked wrong. Throws Transient `warehouse_unavailable`.
 */
export async function checkKept(
  transport: Pick<Transport, 'rows' | 'command'>,
  { sent }: WorkTables,
): Promise<void> {
  const sql = `SELECT toString(count()) AS lines FROM ${sent}`;
  const [kept] = await transport.rows<{ lines: string }>({ sql, connection: 'load', timeoutMs: TIMEOUT_MS });
  if (kept === undefined || kept.lines === '0') throw unavailable();
}

/** What is lost was counted rightly: sums made of what is left would take it away. */
const LACKS_EVENTS = 'sum(more) >= 0';

/** Whether the hours have these events is judged afterwards. */
export async function putBackEvents(
  transport: Pick<Transport, 'rows' | 'command'>,
  { sent, missing }: WorkTables,
  { name, columns, moreOfKey, where }: EventsTable,
): Promise<void> {
  // The engine is named here: that of a cluster's `events` would be one replica's, which ClickHouse cannot
  // create again on one server. Parts move from one table into the other where keys are the same
  // (0001_usage.sql).
  await transport.command(
    `CREATE TABLE ${missing} AS ${name} ENGINE = ReplacingMergeTree(version)
     PARTITION BY toYYYYMM(occurred_at)
     ORDER BY (${KEY}${moreOfKey})
     SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  );
  // By their whole key: a take-over keeps its first created_at, and days of events lie after that.
  await transport.command(
    `INSERT INTO ${missing} (${columns.into}) SETTINGS insert_deduplicate = 0
     SELECT ${columns.values} FROM ${sent} WHERE (${KEY}) NOT IN (
       SELECT ${KEY} FROM ${name}
       WHERE ${where}(${KEY}) IN (SELECT ${KEY} FROM ${sent})
         AND created_at >= (SELECT min(created_at) FROM ${sent})
         AND created_at <= (SELECT max(created_at) FROM ${sent})
     )`,
  );
  const partitions = await transport.rows<{ id: string }>({
    sql: `SELECT DISTINCT _partition_id AS id FROM ${missing}`,
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  for (const { id } of partitions) {
    await transport.command(`ALTER TABLE ${name} ATTACH PARTITION ID '${id}' FROM ${missing}`);
  }
}

async function renewHours(
  transport: Pick<Transport, 'rows' | 'command'>,
  { sent, wrong }: WorkTables,
  which: string,
): Promise<void> {
  const touched = `(SELECT DISTINCT ${HOUR} FROM ${sent})`;
  const isTouched = { event: `(${HOUR}) IN ${touched}`, row: `(${HOUR_OF_ROW}) IN ${touched}` };
  const hasProperties = await isByPropertyThere(transport);
  await transport.command(
    `CREATE TABLE ${wrong} ENGINE = Memory AS
     SELECT environment, customer_id, meter_key, begin FROM (
       SELECT environment, customer_id, meter_key, toStartOfHour(occurred_at) AS begin,
              toInt64(count()) AS more, sum(value) AS over, 0 AS differ
       FROM metergate.events FINAL WHERE ${isTouched.event}
       GROUP BY environment, customer_id, meter_key, begin
       UNION ALL
       SELECT environment, customer_id, meter_key, hour AS begin, -toInt64(sum(h.events)), -sum(h.total), 0
       FROM metergate.usage_hourly AS h WHERE ${isTouched.row}
       GROUP BY environment, customer_id, meter_key, begin
       ${hasProperties ? `UNION ALL ${differentByProperty(isTouched)}` : ''}
     )
     GROUP BY environment, customer_id, meter_key, begin
     HAVING (sum(more) != 0 OR sum(over) != 0 OR max(differ) != 0) AND ${which}`,
  );
  const [found] = await transport.rows<{ hours: string }>({
    sql: `SELECT toString(count()) AS hours FROM ${wrong}`,
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  if (found?.hours === '0') return;
  const isWrong = `IN (SELECT environment, customer_id, meter_key, begin FROM ${wrong})`;
  for (const table of hasProperties ? ['usage_hourly', 'usage_by_property'] : ['usage_hourly']) {
    await transport.command(
      `ALTER TABLE metergate.${table} DELETE WHERE (${HOUR_OF_ROW}) ${isWrong} SETTINGS mutations_sync = 1`,
    );
  }
  await transport.command(
    `INSERT INTO metergate.usage_hourly (${HOURLY_COLUMNS}) SETTINGS insert_deduplicate = 0
     SELECT ${HOURLY_OF_EVENTS} FROM metergate.events FINAL WHERE (${HOUR}) ${isWrong}
     GROUP BY ${HOURLY_GROUP}`,
  );
  if (!hasProperties) return;
  // mutant: properties-not-renewed
  await transport.command(
    `INSERT INTO metergate.usage_by_property (${BY_PROPERTY_COLUMNS}) SETTINGS insert_deduplicate = 0
     ${byPropertyOfEvents(`metergate.events FINAL WHERE (${HOUR}) ${isWrong}`)}`,
  );
}

/** Hours of which a property differs. */
function differentByProperty(isTouched: { event: string; row: string }): string {
  const places = {
    events: `metergate.events FINAL WHERE ${isTouched.event}`,
    rows: `metergate.usage_by_property WHERE ${isTouched.row}`,
  };
  return `SELECT environment, customer_id, meter_key, begin, 0, 0, 1 FROM (${differentProperties(places)})`;
}

/** Not before its migration, in which ranges of a release before this one are sent again. */
async function isByPropertyThere(transport: Pick<Transport, 'rows'>): Promise<boolean> {
  const [found] = await transport.rows<{ tables: string }>({
    sql: `SELECT toString(count()) AS tables FROM system.tables
          WHERE database = 'metergate' AND name = 'usage_by_property'`,
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  return found?.tables === '1';
}
