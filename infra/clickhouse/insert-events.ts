import type { Logger } from 'pino';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { EVENT_COLUMNS } from '../../schemas/stored/event-row.ts';
import { BY_PROPERTY_COLUMNS, byPropertyOfEvents } from '../../schemas/stored/usage-by-property.ts';
import { HOURLY_COLUMNS, HOURLY_GROUP, HOURLY_OF_EVENTS } from '../../schemas/stored/usage-hourly.ts';
import { changeTable } from './changes.ts';
import type { EventsToInsert, LineTransport, Rollup, TablesOf } from './columns/with-columns.ts';
import { withNumbers } from './native/native-block.ts';
import { repairChange } from './repair-change.ts';
import { HOUR_COLUMNS, hourRows } from './rollups/hour-rows.ts';
import { inTurns } from './rollups/in-turns.ts';
import { createPropertyGuard, type PropertyGuard } from './rollups/property-guard.ts';
import { PROPERTY_ROW_COLUMNS, propertyRows } from './rollups/property-rows.ts';
import type { Transport } from './transport.ts';
import { dropTables, sendToWorkTable, workTables } from './work-tables.ts';

/** A table that the load fills with the events. */
interface FilledTable extends Rollup {
  /** The statement that fills it with what lines in a table of memory make. */
  insertFrom(lines: string): string;
}

/**
 * Inserts a block of lines into `events` and into the rollups; rows of a change of usage into the tables of
 * these.
 */
export type EventInsert = (
  transport: LineTransport,
  block: EventsToInsert & { change?: ChangeRows },
) => Promise<void>;

/** `own`: where the guard of properties reads and records. */
export function createEventInsert(own: Transport, log?: Pick<Logger, 'warn'>): EventInsert {
  let orderedSinceMs: number | undefined;
  const guard = createPropertyGuard(own, { log });
  const rollups = [hours(() => orderedSinceMs), byProperty(guard)];
  return async (transport, { change, ...block }) => {
    const isMigrated = orderedSinceMs !== undefined;
    const tables = isMigrated ? rollups : await tablesThere(transport, block.timeoutMs, rollups);
    // mutant: early-latest-left-out
    if (tables === rollups) orderedSinceMs ??= await readOrderedSince(transport, block.timeoutMs);
    if (change) {
      const ofChange = { change, guard, orderedSinceMs };
      // mutant: change-without-its-token
      const isInserted = await transport.insertMade(block, tablesOfChange(ofChange));
      if (isInserted) return;
      // Lines that only ClickHouse reads: it finds what of them is missing, all of it.
      return repairChange(transport, { ...block, change, eventsMayBeLost: false });
    }
    if (await transport.insertEvents(block, tables ?? [])) return;
    if (tables) await insertAsLines(transport, block, tables);
    else await transport.insert({ table: 'metergate.events', ...block });
  };
}

function hours(orderedSinceMs: () => number | undefined): FilledTable {
  return {
    into: `metergate.usage_hourly (${HOUR_COLUMNS.join(', ')})`,
    orderedSinceMs,
    rowsOf: async (made, events) => made.hours ?? (await inTurns(hourRows(events(), orderedSinceMs()))),
    insertFrom: (lines) =>
      `INSERT INTO metergate.usage_hourly (${HOURLY_COLUMNS}) SETTINGS insert_deduplicate = 0
       SELECT ${HOURLY_OF_EVENTS} FROM ${lines} GROUP BY ${HOURLY_GROUP}`,
  };
}

/**
 * A release that writes events of `latest` meters without their order of arrival cannot run together with
 * this one. What it wrote is older than this migration, also where it comes from the log once more.
 */
const ORDERED_SINCE = 7;

/** Undefined before it. */
async function readOrderedSince(transport: LineTransport, timeoutMs: number): Promise<number | undefined> {
  const [found] = await transport.rows<{ ms: string }>({
    sql: `SELECT toString(toInt64(toUnixTimestamp(min(applied_at))) * 1000) AS ms FROM metergate.migrations
          WHERE number = ${ORDERED_SINCE} AND state = 'applied' HAVING count() > 0`,
    connection: 'load',
    timeoutMs,
  });
  return found && Number(found.ms);
}

function byProperty(guard: PropertyGuard): FilledTable {
  return {
    into: `metergate.usage_by_property (${PROPERTY_ROW_COLUMNS.join(', ')})`,
    closed: guard.closed,
    async rowsOf({ byProperty }, events) {
      const rows = async () => await inTurns(propertyRows(events(), await guard.closed()));
      const { block, uses } = byProperty ?? (await rows());
      return (await guard.judge(uses.values())) ? (await rows()).block : block;
    },
    insertFrom: (lines) =>
      `INSERT INTO metergate.usage_by_property (${BY_PROPERTY_COLUMNS}) SETTINGS insert_deduplicate = 0
       ${byPropertyOfEvents(lines)}`,
  };
}

/**
 * What the load fills with the events. Undefined while a view makes the hours: a release before this one left
 * a range pending. It is sent again before the migration that drops the view.
 */
async function tablesThere(
  transport: LineTransport,
  timeoutMs: number,
  rollups: readonly FilledTable[],
): Promise<readonly FilledTable[] | undefined> {
  const found = await transport.rows<{ name: string }>({
    sql: `SELECT name FROM system.tables WHERE database = 'metergate'
          AND name IN ('usage_hourly_view', 'usage_by_property')`,
    connection: 'load',
    timeoutMs,
  });
  const names = found.map(({ name }) => name);
  if (names.includes('usage_hourly_view')) return undefined;
  return names.includes('usage_by_property') ? rollups : rollups.slice(0, 1);
}

/**
 * Lines that the ingest tier does not write, and ClickHouse reads: it makes their rollups as well. What a
 * crash leaves of that is repaired when the block is sent again.
 */
async function insertAsLines(
  transport: LineTransport,
  block: EventsToInsert,
  rollups: readonly FilledTable[],
): Promise<void> {
  const tables = workTables(block.token ?? '');
  await sendToWorkTable(transport, tables, { lines: block.lines, timeoutMs: block.timeoutMs });
  await transport.insert({ table: 'metergate.events', ...block });
  for (const { insertFrom } of rollups) await transport.command(insertFrom(tables.sent));
  await dropTables(transport, tables);
}

interface RowsOfChange {
  change: ChangeRows;
  guard: PropertyGuard;
  orderedSinceMs: number | undefined;
}

/** The events or voids of a change, then their hours and their rows by property. */
function tablesOfChange({ change, guard, orderedSinceMs }: RowsOfChange): TablesOf {
  const { name, areVoided, numbers } = changeTable(change);
  const ofRollups = { of_change: 0, ...numbers };
  const [keys, more] = [Object.keys(numbers).join(', '), Object.keys(ofRollups).join(', ')];
  return async (made, events) => {
    const hours = await inTurns(hourRows(events(), orderedSinceMs, areVoided));
    const byProperty = async () => inTurns(propertyRows(events(), await guard.closed(), areVoided));
    const found = await byProperty();
    // What is voided has rows already.
    const isClosedNow = !areVoided && (await guard.judge(found.uses.values()));
    const { block } = isClosedNow ? await byProperty() : found;
    return [
      {
        table: `metergate.${name} (${EVENT_COLUMNS.join(', ')}, ${keys})`,
        block: withNumbers(made.block, numbers),
      },
      {
        table: `metergate.change_hourly (${HOUR_COLUMNS.join(', ')}, ${more})`,
        block: withNumbers(hours, ofRollups),
      },
      {
        table: `metergate.change_by_property (${PROPERTY_ROW_COLUMNS.join(', ')}, ${more})`,
        block: withNumbers(block, ofRollups),
      },
    ];
  };
}
