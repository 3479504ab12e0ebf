import { HOURLY_COLUMNS, HOURLY_GROUP, HOURLY_OF_EVENTS } from '../../schemas/stored/usage-hourly.ts';
import type { EventLines } from '../ports/warehouse.ts';
import type { LineTransport, Rollup } from './columns/with-columns.ts';
import { HOUR_COLUMNS, hourRows } from './rollups/hour-rows.ts';
import type { LineBlock } from './transport.ts';
import { dropTables, sendToWorkTable, workTables } from './work-tables.ts';

/** Inserts a block of lines into `events` and into the rollups. */
export type EventInsert = (
  transport: LineTransport,
  block: Omit<LineBlock<EventLines>, 'table'>,
) => Promise<void>;

const HOURS: Rollup = { into: `metergate.usage_hourly (${HOUR_COLUMNS.join(', ')})`, rowsOf: hourRows };

export function createEventInsert(): EventInsert {
  let hasView = true;
  return async (transport, block) => {
    // A release before this one had a view in place of our rows. What it left pending is sent again, with its
    // tokens, before the migration that drops the view; there is none ever after.
    hasView &&= await isViewThere(transport, block.timeoutMs);
    const rollups = hasView ? [] : [HOURS];
    if (await transport.insertEvents(block, rollups)) return;
    if (hasView) await transport.insert({ table: 'metergate.events', ...block });
    else await insertAsLines(transport, block);
  };
}

async function isViewThere(transport: LineTransport, timeoutMs: number): Promise<boolean> {
  const [found] = await transport.rows<{ views: string }>({
    sql: `SELECT toString(count()) AS views FROM system.tables
          WHERE database = 'metergate' AND name = 'usage_hourly_view'`,
    connection: 'load',
    timeoutMs,
  });
  return found?.views !== '0';
}

/**
 * Lines that the ingest tier does not write, and ClickHouse reads: it makes their hours as well. What a crash
 * leaves of that is repaired when the block is sent again.
 */
async function insertAsLines(
  transport: LineTransport,
  block: Omit<LineBlock<EventLines>, 'table'>,
): Promise<void> {
  const tables = workTables(block.token ?? '');
  await sendToWorkTable(transport, tables, { lines: block.lines, timeoutMs: block.timeoutMs });
  await transport.insert({ table: 'metergate.events', ...block });
  await transport.command(
    `INSERT INTO metergate.usage_hourly (${HOURLY_COLUMNS}) SETTINGS insert_deduplicate = 0
     SELECT ${HOURLY_OF_EVENTS} FROM ${tables.sent} GROUP BY ${HOURLY_GROUP}`,
  );
  await dropTables(transport, tables);
}
