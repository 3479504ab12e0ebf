import { AGGREGATE_SQL } from '../../domain/store/aggregate-sql.ts';
import { type UsageSources, usageSources } from '../../domain/store/usage-sources.ts';
import type { ViewedUsage } from '../../domain/store/usage-views.ts';
import { type Span, splitByHours } from '../../schemas/primitives/calendar.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';

const TIMEOUT_MS = 5_000;

/** One meter of many customers, each with its own span. */
export interface ManyCounters {
  environment: string;
  meterKey: string;
  aggregation: Aggregation;
  /** Each customer once, a few hundred at most: the statement grows with them. */
  owners: ReadonlyArray<{ customerId: string; span: Span }>;
}

/**
 * By customer, as canonical decimal text, in one statement: periods begin when a customer was created, so
 * that hardly two have the same bounds. Exact at any millisecond, like control-plane/store/read-counter.ts:
 * 100 customers take 70 ms together, and 15 ms each one by one. Throws Transient.
 */
export async function readManyCounters(
  { warehouse, view }: ViewedUsage,
  { environment, meterKey, aggregation, owners }: ManyCounters,
): Promise<Map<string, string>> {
  const rows = await warehouse.query<{ customer: string; current: string }>({
    sql: statementOf(aggregation, usageSources(view)),
    params: { environment, meter: meterKey, ...columnsOf(owners) },
    connection: 'counters',
    timeoutMs: TIMEOUT_MS,
  });
  const counted = rows.map(({ customer, current }) => [customer, unitsText(decimalUnits(current))] as const);
  return new Map([...owners.map(({ customerId }) => [customerId, '0'] as const), ...counted]);
}

const BOUNDS = ['headFrom', 'headTo', 'hoursFrom', 'hoursTo', 'tailFrom', 'tailTo'] as const;

/**
 * Each bound is read by the row's customer. The hours of the edges are in a separate set: the sort key finds
 * them, where a comparison of bounds would read every event of these customers. A head that no whole hour
 * follows may span two. FINAL merges these hours alone, as in read-counter.ts.
 */
function statementOf(aggregation: Aggregation, sources: UsageSources): string {
  const { ofEvents, ofHours, merged } = AGGREGATE_SQL[aggregation];
  const bounds = BOUNDS.map((name) => `arrayMap(text -> toInt64(text), {${name}:Array(String)}) AS ${name}`);
  const ofMeter = `environment = {environment:String} AND meter_key = {meter:String}
     AND customer_id IN {customers:Array(String)}`;
  const inHours = `
   WHERE ${ofMeter} AND hour >= toDateTime(${own('hoursFrom')}, 'UTC')
     AND hour < toDateTime(${own('hoursTo')}, 'UTC')`;
  const inEdges = `
   PREWHERE ${ofMeter} AND (customer_id, toStartOfHour(occurred_at)) IN (
           SELECT edge.1, toStartOfHour(fromUnixTimestamp64Milli(edge.2, 'UTC')) FROM (
             SELECT arrayJoin(arrayZip(arrayConcat(customers, customers, customers),
                      arrayConcat(headFrom, arrayMap(ms -> ms - 1, headTo), tailFrom))) AS edge))
   WHERE (${within('headFrom', 'headTo')} OR ${within('tailFrom', 'tailTo')})`;
  const restates = sources.restates(aggregation);
  const restated = `
  UNION ALL
  SELECT customer_id, ${ofEvents} AS state FROM ${sources.restated(inHours)}
   GROUP BY customer_id`;
  return `WITH {customers:Array(String)} AS customers, ${bounds.join(', ')}
SELECT customer_id AS customer, toString(${merged}) AS current FROM (
  SELECT customer_id, ${ofHours} AS state FROM ${sources.hours(inHours, { restates })}
   GROUP BY customer_id
  UNION ALL
  SELECT customer_id, ${ofEvents} AS state FROM ${sources.events(inEdges)}
   GROUP BY customer_id${restates ? restated : ''})
 GROUP BY customer_id`;
}

function own(bound: (typeof BOUNDS)[number]): string {
  return `transform(customer_id, customers, ${bound}, toInt64(0))`;
}

function within(from: (typeof BOUNDS)[number], to: (typeof BOUNDS)[number]): string {
  const occurred = 'toUnixTimestamp64Milli(occurred_at)';
  return `(${occurred} >= ${own(from)} AND ${occurred} < ${own(to)})`;
}

function columnsOf(owners: ManyCounters['owners']): Record<string, string[]> {
  const split = owners.map(({ span }) => splitByHours(span));
  const texts = (time: (one: (typeof split)[number]) => number) => split.map((one) => String(time(one)));
  return {
    customers: owners.map(({ customerId }) => customerId),
    headFrom: texts(({ head }) => head.fromMs),
    headTo: texts(({ head }) => head.toMs),
    hoursFrom: texts(({ hours }) => hours.fromMs / 1000),
    hoursTo: texts(({ hours }) => hours.toMs / 1000),
    tailFrom: texts(({ tail }) => tail.fromMs),
    tailTo: texts(({ tail }) => tail.toMs),
  };
}
