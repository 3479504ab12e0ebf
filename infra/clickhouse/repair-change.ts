import { rollupsOfChanges } from '../../schemas/stored/change-rollups.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import { differentProperties } from '../../schemas/stored/usage-by-property.ts';
import { takenAway } from '../../schemas/stored/usage-hourly.ts';
import type { EventLines } from '../ports/warehouse.ts';
import { changeTable, columnsOf } from './changes.ts';
import { checkKept, HOUR, HOUR_OF_ROW, putBackEvents, type SentBlock } from './repair-block.ts';
import type { Transport } from './transport.ts';
import { dropTables, sendToWorkTable, type WorkTables, workTables } from './work-tables.ts';

const TIMEOUT_MS = 60_000;

/**
 * As `repairBlock`, of a block with rows of a change of usage. Its hours are what the change adds less what
 * it takes away, whichever of both this block has: the other block of the change is repaired by itself. Where
 * damaged parts may have held either, all hours are left to the audit.
 */
export async function repairChange(
  transport: Transport<EventLines>,
  { lines, token = '', timeoutMs, change, eventsMayBeLost }: SentBlock & { change: ChangeRows },
): Promise<void> {
  const tables = workTables(token);
  const table = changeTable(change);
  const names = Object.keys(table.numbers);
  await sendToWorkTable(transport, tables, { lines, timeoutMs });
  await putBackEvents(transport, tables, {
    name: `metergate.${table.name}`,
    columns: columnsOf(table),
    moreOfKey: names.map((name) => `, ${name}`).join(''),
    where: names.map((name) => `${name} = ${table.numbers[name]} AND `).join(''),
  });
  if (!eventsMayBeLost) await renewHours(transport, tables, change.number);
  await checkKept(transport, tables);
  await dropTables(transport, tables);
}

async function renewHours(
  transport: Pick<Transport, 'rows' | 'command'>,
  { sent, wrong }: WorkTables,
  number: number,
): Promise<void> {
  const touched = `(SELECT DISTINCT ${HOUR} FROM ${sent})`;
  const ofEvents = `change = ${number} AND (${HOUR}) IN ${touched}`;
  const ofRows = `change = ${number} AND (${HOUR_OF_ROW}) IN ${touched}`;
  const place = 'environment, customer_id, meter_key';
  await transport.command(
    `CREATE TABLE ${wrong} ENGINE = Memory AS
     SELECT ${place}, begin FROM (
       SELECT ${place}, toStartOfHour(occurred_at) AS begin,
              toInt64(count()) AS more, sum(value) AS over, 0 AS differ
       FROM metergate.change_events FINAL WHERE ${ofEvents} GROUP BY ${place}, begin
       UNION ALL
       SELECT ${place}, toStartOfHour(occurred_at) AS begin, -toInt64(count()), ${takenAway('sum(value)')}, 0
       FROM metergate.voided_events FINAL WHERE ${ofEvents} GROUP BY ${place}, begin
       UNION ALL
       SELECT ${place}, hour AS begin, -toInt64(sum(h.events)), -sum(h.total), 0
       FROM metergate.change_hourly AS h WHERE ${ofRows} GROUP BY ${place}, begin
       UNION ALL
       SELECT ${place}, begin, 0, 0, 1 FROM (${differentProperties({
         events: `metergate.change_events FINAL WHERE ${ofEvents}`,
         voided: `metergate.voided_events FINAL WHERE ${ofEvents}`,
         rows: `metergate.change_by_property WHERE ${ofRows}`,
       })})
     )
     GROUP BY ${place}, begin
     HAVING (sum(more) != 0 OR sum(over) != 0 OR max(differ) != 0)`,
  );
  const [found] = await transport.rows<{ hours: string }>({
    sql: `SELECT toString(count()) AS hours FROM ${wrong}`,
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  if (found?.hours === '0') return;
  const isWrong = `IN (SELECT ${place}, begin FROM ${wrong})`;
  for (const table of ['change_hourly', 'change_by_property']) {
    await transport.command(
      `ALTER TABLE metergate.${table} DELETE WHERE change = ${number} AND (${HOUR_OF_ROW}) ${isWrong}
       SETTINGS mutations_sync = 1`,
    );
  }
  const rollups = rollupsOfChanges(`change = ${number} AND (${HOUR}) ${isWrong}`);
  for (const sql of rollups) await transport.command(sql);
}
