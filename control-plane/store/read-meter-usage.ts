import { AGGREGATE_SQL, labelOf, occurredWithin } from '../../domain/store/aggregate-sql.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import { filterParams, filterSql, type PropertyFilter } from './usage-filter.ts';
import { quantilesSql, quantileTexts } from './value-quantiles.ts';

/** One meter of all customers, or of one. */
export interface MeterUsageQuestion {
  environment: string;
  meterKey: string;
  aggregation: Aggregation;
  span: Span;
  /** The starts of the buckets, ascending; the first one is the span's. */
  starts: readonly number[];
  /** `customerId` and names of properties. */
  groupBy: readonly string[];
  customerId: string | undefined;
  filter: PropertyFilter;
  quantiles: readonly number[];
  /** Groups shown one by one. */
  limit: number;
}

/** Decimals as canonical text. */
export interface UsageAmount {
  total: string;
  count: number;
  quantiles: string[];
}

/** A bucket of a group, with the bucket's start. */
export interface UsagePoint extends UsageAmount {
  startMs: number;
}

export interface UsageGroup {
  /** In the order of `groupBy`. */
  labels: string[];
  /** Ascending; only buckets with usage. */
  points: UsagePoint[];
}

export interface MeterUsage {
  all: UsageAmount;
  /** How many there are, shown or not. */
  groupCount: number;
  /** Largest total first, then by labels. */
  groups: UsageGroup[];
  /** What is beyond the limit. */
  other: (UsageAmount & { points: UsagePoint[] }) | undefined;
}

/** The name in `groupBy` that is no property. */
export const BY_CUSTOMER = 'customerId';

const TIMEOUT_MS = 15_000;
/** Of a month they are one in seventy: sorted, events of all its hours would need gigabytes. */
const SORTED_EDGES_MAX = 10;

/** In one statement and so in one snapshot. Throws Transient. */
export async function readMeterUsage(
  warehouse: Warehouse,
  question: MeterUsageQuestion,
): Promise<MeterUsage> {
  const { environment, meterKey, customerId = '', groupBy, filter, span, starts, limit } = question;
  const rows = await warehouse.query<Row>({
    sql: statementOf(question),
    params: {
      ...{ environment, meter: meterKey, customer: customerId, limit, from: span.fromMs, to: span.toMs },
      names: groupBy.filter((name) => name !== BY_CUSTOMER),
      starts: starts.map(String),
      ...edgeParams(readsHours(question) ? edgeHours(question) : []),
      ...filterParams(filter),
    },
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  return usageOf(rows, limit);
}

/** The rollup has neither properties nor single values. */
function readsHours({ groupBy, filter, quantiles }: MeterUsageQuestion): boolean {
  return groupBy.every((name) => name === BY_CUSTOMER) && filter.length + quantiles.length === 0;
}

/** Hours (UTC) that the span or a bucket cuts: their usage is read from the events. */
function edgeHours({ span, starts }: MeterUsageQuestion): number[] {
  const cuts = [...starts, span.toMs].filter((ms) => ms % HOUR_MS !== 0);
  return [...new Set(cuts.map((ms) => Math.floor(ms / HOUR_MS) * HOUR_MS))];
}

function edgeParams(hours: readonly number[]) {
  const [first = 0, last = 0] = [hours[0], hours.at(-1)];
  const within = { edgesFrom: first, edgesTo: last + HOUR_MS };
  return { edges: hours.map((ms) => String(ms / 1000)), ...within };
}

const BUCKET = (ms: string) => `roundDown(${ms}, arrayMap(text -> toInt64(text), {starts:Array(String)}))`;

/**
 * States by bucket and labels, from the hours and the events; then the place of each group by its total, and
 * the sums of each bucket of a group, of each group, and of all.
 */
function statementOf(question: MeterUsageQuestion): string {
  const { merged } = AGGREGATE_SQL[question.aggregation];
  const quantiles = quantilesSql(question.quantiles);
  const parts = readsHours(question)
    ? [hoursSql(question), ...(edgeHours(question).length > 0 ? [eventsSql(question)] : [])]
    : [eventsSql(question)];
  return `
SELECT grouping(bucket) AS isWhole, grouping(slot) AS isAll, slot, bucket, any(labels) AS names,
       sum(n) AS count, toString(${merged}) AS total, ${quantiles.merged} AS spreads, max(place) AS places
  FROM (SELECT *, least(place, {limit:UInt64} + 1) AS slot FROM (
         SELECT *, dense_rank() OVER (ORDER BY whole DESC, labels) AS place FROM (
           SELECT *, ${merged} OVER (PARTITION BY labels) AS whole FROM (
             ${parts.join('\nUNION ALL\n')}))))
 GROUP BY GROUPING SETS ((slot, bucket), (slot), ())
 ORDER BY isAll, slot, isWhole, bucket`;
}

const ofMeter = ({ customerId }: MeterUsageQuestion) =>
  `environment = {environment:String} AND meter_key = {meter:String}
   ${customerId === undefined ? '' : 'AND customer_id = {customer:String}'}`;

function hoursSql(question: MeterUsageQuestion): string {
  return `SELECT ${BUCKET('toInt64(toUnixTimestamp(hour)) * 1000')} AS bucket,
       ${labelsSql(question.groupBy)} AS labels, toUInt64(sum(events)) AS n,
       ${AGGREGATE_SQL[question.aggregation].ofHours} AS state, 0 AS spread
  FROM metergate.usage_hourly
 WHERE ${ofMeter(question)} AND toInt64(toUnixTimestamp(hour)) * 1000 >= {from:Int64}
   AND toInt64(toUnixTimestamp(hour)) * 1000 < {to:Int64}
   AND toUnixTimestamp(hour) NOT IN (SELECT toUInt32(arrayJoin({edges:Array(String)})))
 GROUP BY bucket, labels`;
}

function eventsSql(question: MeterUsageQuestion): string {
  const { groupBy, filter, aggregation, quantiles } = question;
  return `SELECT ${BUCKET('toUnixTimestamp64Milli(occurred_at)')} AS bucket,
       ${labelsSql(groupBy)} AS labels, count() AS n,
       ${AGGREGATE_SQL[aggregation].ofEvents} AS state, ${quantilesSql(quantiles).ofEvents}
  FROM ${readsHours(question) ? edgesSql(question) : 'metergate.events FINAL'}
 WHERE ${ofMeter(question)} AND ${occurredWithin('from', 'to')} ${filterSql(filter)}
 GROUP BY bucket, labels`;
}

/**
 * The events of the edge hours, each once: the earliest, as FINAL gives it. Where these hours are few,
 * sorting their rows takes a fifth of the CPU of FINAL, which merges all hours of all customers.
 */
function edgesSql(question: MeterUsageQuestion): string {
  const isEdge = `${ofMeter(question)} AND ${occurredWithin('edgesFrom', 'edgesTo')}
       AND toUnixTimestamp(toStartOfHour(occurred_at)) IN (
           SELECT toUInt32(arrayJoin({edges:Array(String)})))`;
  if (edgeHours(question).length > SORTED_EDGES_MAX) {
    return `(SELECT * FROM metergate.events FINAL WHERE ${isEdge})`;
  }
  return `(
    SELECT environment, customer_id, meter_key, id, value, unique_value, occurred_at, created_at
      FROM metergate.events WHERE ${isEdge}
     ORDER BY created_at LIMIT 1 BY customer_id, toStartOfHour(occurred_at), id)`;
}

/** In the order of `groupBy`; each property by its place among the properties. */
function labelsSql(groupBy: readonly string[]): string {
  if (groupBy.length === 0) return 'emptyArrayString()';
  const properties = groupBy.filter((name) => name !== BY_CUSTOMER);
  const labels = groupBy.map((name) =>
    name === BY_CUSTOMER ? 'customer_id' : labelOf(`{names:Array(String)}[${properties.indexOf(name) + 1}]`),
  );
  return `[${labels.join(', ')}]`;
}

interface Row {
  isWhole: number | string;
  isAll: number | string;
  slot: string;
  bucket: string;
  names: string[];
  count: string;
  total: string;
  spreads: string[];
  places: string;
}

/** The rows are in the order of the statement. */
function usageOf(rows: readonly Row[], limit: number): MeterUsage {
  const usage: MeterUsage = { all: NOTHING, groupCount: 0, groups: [], other: undefined };
  for (const row of rows) {
    const point = { startMs: Number(row.bucket), ...amountOf(row) };
    if (Number(row.isAll) === 1) {
      usage.all = amountOf(row);
      usage.groupCount = Number(row.places);
    } else if (Number(row.slot) > limit) {
      usage.other ??= { ...NOTHING, points: [] };
      if (Number(row.isWhole) === 1) Object.assign(usage.other, amountOf(row));
      else usage.other.points.push(point);
    } else if (Number(row.isWhole) === 0) {
      const group = usage.groups[Number(row.slot) - 1];
      if (group) group.points.push(point);
      else usage.groups.push({ labels: row.names, points: [point] });
    }
  }
  return usage;
}

const NOTHING: UsageAmount = { total: '0', count: 0, quantiles: [] };

function amountOf({ total, count, spreads }: Row): UsageAmount {
  // Of no row at all ClickHouse has quantiles of nothing.
  const quantiles = Number(count) === 0 ? [] : quantileTexts(spreads);
  return { total: unitsText(decimalUnits(total)), count: Number(count), quantiles };
}
