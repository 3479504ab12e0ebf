import type { Transport } from '../transport.ts';
import { type PropertyMonth, propertyMonthText } from './property-rows.ts';

/** What is stored of a property in a month; of the name '' of all events of the meter. */
export interface StoredUse {
  /** Different values; of the name '' different properties. */
  values: number;
  /** In any hour. */
  events: number;
  /** In hours that are over: at the beginning of an hour every event has a row of its own. */
  past: { rows: number; events: number; hours: number };
}

const NOTHING: StoredUse = { values: 0, events: 0, past: { rows: 0, events: 0, hours: 0 } };
const TIMEOUT_MS = 10_000;

type Row = PropertyMonth & Record<'values' | 'events' | 'pastRows' | 'pastEvents' | 'pastHours', string>;

/** In one statement; the rows of hours that are over by an estimate of one percent: they may be very many. */
export async function storedUses(
  transport: Pick<Transport, 'rows'>,
  uses: readonly PropertyMonth[],
): Promise<(use: PropertyMonth) => StoredUse> {
  const isOver = 'hour < now() - INTERVAL 1 HOUR';
  const rows = await transport.rows<Row>({
    sql: `SELECT environment, meter_key AS meterKey, property, toString(toStartOfMonth(hour)) AS month,
                 toString(uniqExact(r.value)) AS values, toString(sum(r.events)) AS events,
                 toString(uniqCombinedIf((customer_id, hour, r.value), ${isOver})) AS pastRows,
                 toString(sumIf(r.events, ${isOver})) AS pastEvents,
                 toString(uniqExactIf(hour, ${isOver})) AS pastHours
          FROM metergate.usage_by_property AS r
          WHERE (environment, meter_key, property, toStartOfMonth(hour)) IN (${LISTED})
          GROUP BY environment, meterKey, property, month
          UNION ALL
          SELECT environment, meter_key AS meterKey, '' AS property, toString(toStartOfMonth(hour)) AS month,
                 toString(uniqExact(r.property) - 1) AS values, '', '', '', ''
          FROM metergate.usage_by_property AS r
          WHERE (environment, meter_key, '', toStartOfMonth(hour)) IN (${LISTED})
          GROUP BY environment, meterKey, month`,
    params: listParams(uses),
    connection: 'load',
    timeoutMs: TIMEOUT_MS,
  });
  const found = new Map<string, StoredUse>();
  for (const row of rows) {
    const name = propertyMonthText(row);
    const so = found.get(name) ?? NOTHING;
    if (row.events === '') found.set(name, { ...so, values: Number(row.values) });
    else found.set(name, { ...ofRow(row), values: row.property === '' ? so.values : Number(row.values) });
  }
  return (use) => found.get(propertyMonthText(use)) ?? NOTHING;
}

function ofRow({ values, events, pastRows, pastEvents, pastHours }: Row): StoredUse {
  const past = { rows: Number(pastRows), events: Number(pastEvents), hours: Number(pastHours) };
  return { values: Number(values), events: Number(events), past };
}

/** The rows (environment, meter, property, month) of {@link listParams}. */
export const LISTED = `SELECT one.1, one.2, one.3, toDate(one.4) FROM (SELECT arrayJoin(arrayZip(
            {environments:Array(String)}, {meters:Array(String)}, {properties:Array(String)},
            {months:Array(String)})) AS one)`;

export function listParams(listed: readonly PropertyMonth[]): Record<string, string[]> {
  return {
    environments: listed.map(({ environment }) => environment),
    meters: listed.map(({ meterKey }) => meterKey),
    properties: listed.map(({ property }) => property),
    months: listed.map(({ month }) => month),
  };
}
