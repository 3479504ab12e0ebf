import { BY_PROPERTY_COLUMNS, byPropertyOfEvents } from '../../../schemas/stored/usage-by-property.ts';
import { isTooMuch } from '../driver-errors.ts';
import { inlineParameters } from '../inline-parameters.ts';
import type { Transport } from '../transport.ts';

/** A part of a month: customers by their ids, (after, to], and hours of the month, [from, until). */
interface Slice {
  after: string;
  to: string;
  from: number;
  until: number;
}

/** Events of one statement: some seconds. What one customer has beyond four times as many is read by days. */
const SLICE_EVENTS = 1_000_000;
/** Then ClickHouse ends a statement, and its slice is halved. */
const SLICE_SECONDS_MAX = 60;
/** Waits for that, and is shorter than the insert lock is held without a statement (insert-lock.ts). */
export const FILL_TIMEOUT_MS = 120_000;
const READ_TIMEOUT_MS = 600_000;
const HOURS_OF_MONTH = 31 * 24;
const DAYS = Array.from({ length: 31 }, (_, day) => ({ from: day * 24, until: (day + 1) * 24 }));

const hourOfMonth = (time: string) => `(toDayOfMonth(${time}) - 1) * 24 + toHour(${time})`;

const inSlice = (time: string) => `toYYYYMM(${time}) = {month:UInt32}
  AND customer_id > {after:String} AND customer_id <= {to:String}
  AND ${hourOfMonth(time)} >= {from:UInt16} AND ${hourOfMonth(time)} < {until:UInt16}`;

/**
 * Fills the rows by property of a month (YYYYMM), of which there are none. `others` waits until no statement
 * that fills runs. Throws what the transport throws.
 */
export async function fillMonth(
  transport: Transport,
  month: number,
  others: () => Promise<void>,
): Promise<void> {
  for (const slice of await slicesOf(transport, month)) await fillSlice({ transport, month, others }, slice);
}

interface Filling {
  transport: Transport;
  month: number;
  others(): Promise<void>;
}

async function slicesOf(transport: Transport, month: number): Promise<Slice[]> {
  const found = await transport.rows<{ last: string; events: string }>({
    sql: `SELECT max(customer_id) AS last, sum(used) AS events FROM (
       SELECT customer_id, sum(events) AS used,
              intDiv(sum(used) OVER (ORDER BY customer_id), {events:UInt64}) AS slice
       FROM metergate.usage_hourly WHERE toYYYYMM(hour) = {month:UInt32} GROUP BY customer_id)
     GROUP BY slice ORDER BY last`,
    params: { month, events: SLICE_EVENTS },
    connection: 'load',
    timeoutMs: READ_TIMEOUT_MS,
  });
  return found.flatMap(({ last, events }, at) => {
    const customers = { after: found[at - 1]?.last ?? '', to: last };
    const isLarge = Number(events) > SLICE_EVENTS * 4;
    return (isLarge ? DAYS : [{ from: 0, until: HOURS_OF_MONTH }]).map((hours) => ({
      ...customers,
      ...hours,
    }));
  });
}

/** One that ClickHouse cannot fill in time, or in its memory, is filled in halves, and these in halves. */
async function fillSlice(filling: Filling, slice: Slice): Promise<void> {
  const { transport, month, others } = filling;
  try {
    await write(
      filling,
      slice,
      `INSERT INTO metergate.usage_by_property (${BY_PROPERTY_COLUMNS})
       SETTINGS insert_deduplicate = 0, max_execution_time = ${SLICE_SECONDS_MAX}
       ${byPropertyOfEvents(`metergate.events FINAL WHERE ${inSlice('occurred_at')}`)}`,
    );
  } catch (error) {
    const halves = isTooMuch(error) ? await halvesOf(transport, month, slice) : [];
    if (halves.length === 0) throw error;
    await others();
    // It may have left some of its rows.
    // mutant: cut-off-slice-kept
    await write(
      filling,
      slice,
      `ALTER TABLE metergate.usage_by_property DELETE IN PARTITION ${month} WHERE ${inSlice('hour')}
       SETTINGS mutations_sync = 1`,
    );
    for (const half of halves) await fillSlice(filling, half);
  }
}

async function write({ transport, month }: Filling, slice: Slice, sql: string): Promise<void> {
  await transport.command(inlineParameters(sql, { month, ...slice }), FILL_TIMEOUT_MS);
}

/** By customers, of one by hours; none of an hour. */
async function halvesOf(transport: Transport, month: number, slice: Slice): Promise<Slice[]> {
  const [found] = await transport.rows<{ middle: string }>({
    sql: `SELECT arrayElement(ids, intDiv(length(ids), 2)) AS middle FROM (
       SELECT arraySort(groupUniqArray(customer_id)) AS ids
       FROM metergate.usage_hourly WHERE ${inSlice('hour')})`,
    params: { month, ...slice },
    connection: 'load',
    timeoutMs: READ_TIMEOUT_MS,
  });
  const { from, until } = slice;
  const customer = found?.middle ?? '';
  if (customer !== '') {
    return [
      { ...slice, to: customer },
      { ...slice, after: customer },
    ];
  }
  if (until - from < 2) return [];
  const hour = (from + until) >> 1;
  return [
    { ...slice, until: hour },
    { ...slice, from: hour },
  ];
}
