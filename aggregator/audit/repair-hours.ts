import { randomUUID } from 'node:crypto';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { rollupsOfChanges } from '../../schemas/stored/change-rollups.ts';
import { BY_PROPERTY_COLUMNS, byPropertyOfEvents } from '../../schemas/stored/usage-by-property.ts';
import { HOURLY_COLUMNS, HOURLY_GROUP, HOURLY_OF_EVENTS } from '../../schemas/stored/usage-hourly.ts';
import type { PausedPartition } from '../load/load-state.ts';
import type { AuditDeps } from './compare-places.ts';
import { type Difference, HOUR_SECONDS, type HourKey, keyText } from './hour-sums.ts';
import { findLogSpans } from './log-span.ts';
import { createLoggedBatches } from './logged-batches.ts';
import { loggedEvents } from './logged-events.ts';
import type { LogSpan } from './logged-frames.ts';

/** An insert of many more lines would not gain anything. */
const LINES_MAX = 20_000;
const TIMEOUT_MS = 120_000;
/** Of one statement. */
const HOURS_MAX = 500;
const INSERT_TIMEOUT_MS = 15_000;
/** Nothing is begun with less left of a lease. */
const LEFT_MS_MIN = 2_000;

/**
 * Corrects wrong hours while the partition is paused: first the stored events from the log, then the hourly
 * sums from the stored events. The next audit finds what a crash leaves half done, and the log still has it:
 * the log is held until an audit finds every event of it. A log that deletes its records by itself (Kafka)
 * cannot be held. Then no stored event is deleted, and surplus events stay and are reported.
 */
export async function repairHours(
  deps: AuditDeps,
  paused: PausedPartition[],
  differences: Difference[],
): Promise<void> {
  const leftMs = () => Math.min(...paused.map(({ lease }) => lease.remainingMs(LEFT_MS_MIN)));
  const wrongEvents = hoursOf(differences.filter(({ kind }) => kind === 'log'));
  if (wrongEvents.size > 0) {
    const spans = await findLogSpans(deps, paused);
    for (const keys of together(wrongEvents)) {
      leftMs();
      // The sums first: restored events are added to them. Half done, the sums are too low, and the next
      // attempt corrects that. Too high, they would be settled permanently and look like lost events.
      // mutant: repaired-on-top-of-the-sums
      await deleteHours(deps.warehouse, keys);
      leftMs();
      if (!deps.isDistributed) await deleteEvents(deps.warehouse, keys, spans[0]?.sinceMs ?? 0);
    }
    await insertFromLog(deps, leftMs, spans, wrongEvents);
  }
  for (const keys of together(hoursOf(differences))) {
    leftMs();
    await deleteHours(deps.warehouse, keys);
    leftMs();
    await insertHours(deps.warehouse, keys);
  }
}

/** A mutation rewrites the parts it touches: as many hours at once as a statement takes without strain. */
function together(hours: Map<string, HourKey>): HourKey[][] {
  const keys = [...hours.values()];
  const chunks = Math.ceil(keys.length / HOURS_MAX);
  return Array.from({ length: chunks }, (_, at) => keys.slice(at * HOURS_MAX, (at + 1) * HOURS_MAX));
}

function hoursOf(differences: Difference[]): Map<string, HourKey> {
  return new Map(
    differences.map(({ environment, customerId, meterKey, hour }) => {
      const key = { environment, customerId, meterKey, hour: Date.parse(hour) / 1000 };
      return [keyText(key), key];
    }),
  );
}

async function insertFromLog(
  { reader, warehouse }: AuditDeps,
  leftMs: () => number,
  spans: LogSpan[],
  keys: Map<string, HourKey>,
): Promise<void> {
  const batches = createLoggedBatches(LINES_MAX);

  async function insert(): Promise<void> {
    for (const { events: _, ...batch } of batches.take()) {
      const timeoutMs = Math.min(INSERT_TIMEOUT_MS, leftMs());
      // Never the same: what was put back before may have been deleted since, and its token is known
      // for good.
      // mutant: repair-known-by-its-bytes
      await warehouse.insertEvents({ token: `repair-${randomUUID()}`, ...batch, timeoutMs });
    }
  }

  for (const span of spans) {
    for await (const events of loggedEvents(reader, span)) {
      for (const event of events) {
        if (keys.has(event.key)) batches.add(event);
        if (batches.isFull()) await insert();
      }
    }
  }
  await insert();
}

/** The sets find the rows by the primary key; the tuples select the exact rows. */
const OF_KEYS = `environment IN {environments:Array(String)} AND customer_id IN {customers:Array(String)}
  AND meter_key IN {meters:Array(String)}`;
const KEYS = `(SELECT arrayJoin(arrayZip({environments:Array(String)}, {customers:Array(String)},
  {meters:Array(String)}, {hours:Array(UInt32)})))`;
const EVENTS_OF_HOURS = `${OF_KEYS}
  AND occurred_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
  AND occurred_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')
  AND (environment, customer_id, meter_key, toUnixTimestamp(toStartOfHour(occurred_at))) IN ${KEYS}`;

async function deleteEvents(warehouse: Warehouse, keys: HourKey[], sinceMs: number): Promise<void> {
  for (const table of ['events', 'change_events', 'voided_events']) {
    await run(
      warehouse,
      `ALTER TABLE metergate.${table} DELETE
       WHERE ${EVENTS_OF_HOURS} AND created_at >= fromUnixTimestamp64Milli({sinceMs:Int64}, 'UTC')
       SETTINGS mutations_sync = 1`,
      { ...paramsOf(keys), ...timesOf(keys), sinceMs },
    );
  }
}

async function deleteHours(warehouse: Warehouse, keys: HourKey[]): Promise<void> {
  for (const table of ['usage_hourly', 'usage_by_property', 'change_hourly', 'change_by_property']) {
    await run(
      warehouse,
      `ALTER TABLE metergate.${table} DELETE
       WHERE ${OF_KEYS} AND (environment, customer_id, meter_key, toUnixTimestamp(hour)) IN ${KEYS}
       SETTINGS mutations_sync = 1`,
      paramsOf(keys),
    );
  }
}

/**
 * As the load does. Releases of ClickHouse differ in whether they deduplicate INSERT SELECT, and an hour that
 * is rebuilt twice is no retry.
 */
async function insertHours(warehouse: Warehouse, keys: HourKey[]): Promise<void> {
  await run(
    warehouse,
    `INSERT INTO metergate.usage_hourly (${HOURLY_COLUMNS}) SETTINGS insert_deduplicate = 0
     SELECT ${HOURLY_OF_EVENTS} FROM metergate.events FINAL WHERE ${EVENTS_OF_HOURS}
     GROUP BY ${HOURLY_GROUP}`,
    { ...paramsOf(keys), ...timesOf(keys) },
  );
  await run(
    warehouse,
    `INSERT INTO metergate.usage_by_property (${BY_PROPERTY_COLUMNS}) SETTINGS insert_deduplicate = 0
     ${byPropertyOfEvents(`metergate.events FINAL WHERE ${EVENTS_OF_HOURS}`)}`,
    { ...paramsOf(keys), ...timesOf(keys) },
  );
  for (const sql of rollupsOfChanges(EVENTS_OF_HOURS)) {
    await run(warehouse, sql, { ...paramsOf(keys), ...timesOf(keys) });
  }
}

function paramsOf(keys: HourKey[]): Record<string, string[]> {
  return {
    environments: keys.map(({ environment }) => environment),
    customers: keys.map(({ customerId }) => customerId),
    meters: keys.map(({ meterKey }) => meterKey),
    hours: keys.map(({ hour }) => String(hour)),
  };
}

function timesOf(keys: HourKey[]): Record<string, number> {
  const hours = keys.map(({ hour }) => hour);
  return { fromMs: Math.min(...hours) * 1000, toMs: (Math.max(...hours) + HOUR_SECONDS) * 1000 };
}

async function run(
  warehouse: Warehouse,
  sql: string,
  params: Record<string, string | number | string[]>,
): Promise<void> {
  await warehouse.query({ sql, params, connection: 'load', timeoutMs: TIMEOUT_MS });
}
