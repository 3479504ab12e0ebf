import { usageSources } from '../../domain/store/usage-sources.ts';
import type { ViewedUsage } from '../../domain/store/usage-views.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { type FoundEvent, type FoundRow, foundColumns, foundEvent } from './read-usage-events.ts';
import type { LedgerVoid, SelectionPosition } from './usage-corrections.ts';
import { filterParams, filterSql, type PropertyFilter } from './usage-filter.ts';

/** Events of an environment that a correction is to void. */
export interface EventSelection {
  environment: string;
  customerId?: string | undefined;
  meterKey?: string | undefined;
  span: Span;
  filter: PropertyFilter;
  /** Those that were recorded by then. */
  recordedToMs: number;
}

/** One of the environment's long statements: of all its events, where nothing else is selected. */
const TIMEOUT_MS = 60_000;

const WITHIN = `occurred_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
   AND occurred_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`;

function selected({ customerId, meterKey, filter }: EventSelection): string {
  const customer = customerId === undefined ? '' : ' AND customer_id = {customer:String}';
  const meter = meterKey === undefined ? '' : ' AND meter_key = {meter:String}';
  return `
 WHERE environment = {environment:String}${customer}${meter} AND ${WITHIN}
   AND created_at <= fromUnixTimestamp64Milli({recordedTo:Int64}, 'UTC') ${filterSql(filter)}`;
}

function paramsOf(selection: EventSelection) {
  const { environment, customerId = '', meterKey = '', span, filter, recordedToMs } = selection;
  return {
    ...{ environment, customer: customerId, meter: meterKey, from: span.fromMs, to: span.toMs },
    ...{ recordedTo: recordedToMs, ...filterParams(filter) },
  };
}

const BEHIND = `
   AND customer_id >= {afterCustomer:String}
   AND (customer_id > {afterCustomer:String} OR meter_key > {afterMeter:String}
        OR meter_key = {afterMeter:String} AND (
          occurred_at > fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC')
          OR occurred_at = fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC') AND id > {afterId:String}))`;

const IN_ORDER = `
 ORDER BY environment, customer_id, meter_key, toStartOfHour(occurred_at), occurred_at, id
 LIMIT {limit:UInt32}`;

/** The next ones behind this place, voided ones too. Throws Transient. */
export async function selectUsageEvents(
  { warehouse, view }: ViewedUsage,
  selection: EventSelection,
  { after, limit }: { after: SelectionPosition | null; limit: number },
): Promise<FoundEvent[]> {
  const sources = usageSources(view);
  const where = `${selected(selection)}${after ? BEHIND : ''}`;
  const rows = await warehouse.query<FoundRow>({
    sql: `
SELECT ${foundColumns(sources)}
  FROM ${sources.listed(where, IN_ORDER, { isFinal: true })}${IN_ORDER}`,
    params: {
      ...paramsOf(selection),
      ...{ afterCustomer: after?.customerId ?? '', afterMeter: after?.meterKey ?? '' },
      ...{ afterMs: after?.occurredAtMs ?? 0, afterId: after?.id ?? '', limit },
    },
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  return rows.map(foundEvent);
}

/** Of one customer and meter. */
export interface SelectedSum {
  customerId: string;
  meterKey: string;
  /** How many of them count. */
  events: number;
  /** Of their values: decimal text. */
  total: string;
}

/** What the selection would void, the most events first. Throws Transient. */
export async function sumSelected(
  { warehouse, view }: ViewedUsage,
  selection: EventSelection,
  limit: number,
): Promise<{ sums: SelectedSum[]; events: number; groups: number }> {
  const rows = await warehouse.query<SumRow>({
    sql: `
SELECT customer_id AS customerId, meter_key AS meterKey, toString(count() AS counted) AS events,
       toString(sum(value)) AS total, toString(sum(counted) OVER ()) AS allEvents,
       toString(count() OVER ()) AS groups
  FROM ${usageSources(view).events(selected(selection))}
 GROUP BY customer_id, meter_key
 ORDER BY counted DESC, customer_id, meter_key
 LIMIT {limit:UInt32}`,
    params: { ...paramsOf(selection), limit },
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  const sums = rows.map(({ customerId, meterKey, events, total }) => ({
    ...{ customerId, meterKey, events: Number(events), total },
  }));
  return { sums, events: Number(rows[0]?.allEvents ?? 0), groups: Number(rows[0]?.groups ?? 0) };
}

type SumRow = Record<'customerId' | 'meterKey' | 'events' | 'total' | 'allEvents' | 'groups', string>;

/** The events of these rows of the ledger that the view shows. Throws Transient. */
export async function readLedgerEvents(
  { warehouse, view }: ViewedUsage,
  environment: string,
  voids: readonly LedgerVoid[],
): Promise<FoundEvent[]> {
  const sources = usageSources(view);
  const times = voids.map(({ occurredAtMs }) => occurredAtMs);
  const where = `
 WHERE environment = {environment:String} AND customer_id IN {customers:Array(String)}
   AND meter_key IN {meters:Array(String)} AND ${WITHIN} AND id IN {ids:Array(String)}`;
  const rows = await warehouse.query<FoundRow>({
    sql: `
SELECT ${foundColumns(sources)}
  FROM ${sources.listed(where, IN_ORDER, { isFinal: true })}${IN_ORDER}`,
    params: {
      environment,
      customers: [...new Set(voids.map(({ customerId }) => customerId))],
      meters: [...new Set(voids.map(({ meterKey }) => meterKey))],
      ids: voids.map(({ id }) => id),
      ...{ from: Math.min(...times), to: Math.max(...times) + 1, limit: 2 * voids.length },
    },
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  return rows.map(foundEvent);
}
