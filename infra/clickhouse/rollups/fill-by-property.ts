import { EVENT_ENTRIES } from '../../../schemas/stored/usage-by-property.ts';
import { poll } from '../../platform/poll.ts';
import { isTooMuch, unavailable } from '../driver-errors.ts';
import { inlineParameters } from '../inline-parameters.ts';
import type { Transport } from '../transport.ts';
import { FILL_TIMEOUT_MS, fillMonth } from './fill-slices.ts';

/** Events of a month by which its properties are judged: of more a part of the customers is. */
const JUDGED_EVENTS = 3_000_000;
/** By fewer than this nothing is judged. */
const JUDGED_EVENTS_MIN = 100_000;
const STATEMENT_TIMEOUT_MS = 600_000;
const OTHERS_PATIENCE = { timeoutMs: 600_000, everyMs: 500 };
const FILLED = 'metergate.filled_months';

/**
 * Fills `usage_by_property` with what was stored before it was there, month by month. Nothing is loaded
 * meanwhile. After a crash it continues with the month that it was in: what is there of that month is dropped
 * first. Until it is through (the migration is recorded as applied), reads take the events.
 */
export async function fillByProperty(transport: Transport): Promise<void> {
  const months = await storedMonths(transport);
  if (months.length === 0) return;
  await untilNoOtherFills(transport);
  await transport.command(
    `CREATE TABLE IF NOT EXISTS ${FILLED} (month UInt32) ENGINE = MergeTree ORDER BY month
     SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
  );
  const filled = new Set(
    (await rows<{ month: number }>(transport, `SELECT month FROM ${FILLED}`)).map(monthOf),
  );
  for (const { month, events } of months.filter((one) => !filled.has(one.month))) {
    // mutant: filled-over-what-is-there
    await transport.command(`ALTER TABLE metergate.usage_by_property DROP PARTITION ${month}`);
    await closeProperties(transport, month, events);
    await fillMonth(transport, month, () => untilNoOtherFills(transport));
    await transport.command(`INSERT INTO ${FILLED} (month) VALUES (${month})`);
  }
  await transport.command(`DROP TABLE IF EXISTS ${FILLED} SYNC`);
}

async function rows<Row>(
  transport: Transport,
  sql: string,
  params: Record<string, string | number> = {},
): Promise<Row[]> {
  return transport.rows<Row>({ sql, params, connection: 'load', timeoutMs: STATEMENT_TIMEOUT_MS });
}

function monthOf({ month }: { month: number | string }): number {
  return Number(month);
}

/** A statement may outlive the process that sent it: its rows would be added to ours. */
async function untilNoOtherFills(transport: Transport): Promise<void> {
  const sql = `SELECT toString(count()) AS running FROM system.processes
    WHERE query LIKE 'INSERT INTO metergate.usage_by_property%'`;
  const isOver = await poll(async () => {
    const [found] = await rows<{ running: string }>(transport, sql);
    return found?.running === '0' ? true : undefined;
  }, OTHERS_PATIENCE);
  if (!isOver) throw unavailable();
}

async function storedMonths(transport: Transport): Promise<Array<{ month: number; events: number }>> {
  const found = await rows<{ month: number; events: string }>(
    transport,
    `SELECT toYYYYMM(hour) AS month, sum(h.events) AS events FROM metergate.usage_hourly AS h
     GROUP BY month ORDER BY month`,
  );
  return found.map(({ month, events }) => ({ month: Number(month), events: Number(events) }));
}

/** As the guard would (property-guard.ts), by estimates of some percent; by fewer customers if it is slow. */
async function closeProperties(transport: Transport, month: number, events: number): Promise<void> {
  for (let of = Math.max(1, Math.ceil(events / JUDGED_EVENTS)); ; of *= 4) {
    try {
      return await closeByShare(transport, month, of);
    } catch (error) {
      if (!isTooMuch(error) || events / of < JUDGED_EVENTS_MIN) throw error;
    }
  }
}

async function closeByShare(transport: Transport, month: number, of: number): Promise<void> {
  const inMonth = `toYYYYMM(occurred_at) = {month:UInt32} AND CRC32(customer_id) % {of:UInt32} = 0`;
  const sql = `INSERT INTO metergate.closed_properties (environment, meter_key, property, month)
     SETTINGS insert_deduplicate = 0, max_execution_time = 60
     SELECT environment, meter_key, entry.1 AS property, toStartOfMonth(any(occurred_at))
     FROM (SELECT environment, meter_key, customer_id, occurred_at, arrayJoin(${EVENT_ENTRIES}) AS entry
           FROM metergate.events WHERE ${inMonth})
     GROUP BY environment, meter_key, property
     HAVING uniq(entry.2) > 10000
         OR (count() >= if(uniq(toStartOfHour(occurred_at)) >= 24, 1000, 10000)
             AND uniq(customer_id, toStartOfHour(occurred_at), entry.2) * 4 > count())
     UNION ALL
     SELECT environment, meter_key, '', toStartOfMonth(any(occurred_at))
     FROM (SELECT environment, meter_key, occurred_at, arrayJoin(mapKeys(properties)) AS name
           FROM metergate.events WHERE ${inMonth})
     GROUP BY environment, meter_key HAVING uniq(name) > 200`;
  await transport.command(inlineParameters(sql, { month, of }), FILL_TIMEOUT_MS);
}
