import { AGGREGATE_SQL, labelOf, mergedWithin, occurredWithin } from '../../domain/store/aggregate-sql.ts';
import { type UsageSources, usageSources } from '../../domain/store/usage-sources.ts';
import type { ViewedUsage } from '../../domain/store/usage-views.ts';
import { HOUR_MS, type Span } from '../../schemas/primitives/calendar.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import { cutHours, lackingSql, valuesSql } from './by-property-sql.ts';
import { type MeterUsage, type UsageRow, usageOf } from './meter-usage-rows.ts';
import type { PropertyRollup } from './property-rollup.ts';
import { filterParams, filterSql, type PropertyFilter } from './usage-filter.ts';
import { quantilesSql } from './value-quantiles.ts';

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

/** The name in `groupBy` that is no property. */
export const BY_CUSTOMER = 'customerId';

const TIMEOUT_MS = 15_000;
/** Of a month they are one in seventy: sorted, events of all its hours would need gigabytes. */
const SORTED_EDGES_MAX = 10;

/**
 * In one statement and so in one snapshot: of whole hours from a rollup, where one has what is asked for, and
 * else of the events. Throws Transient.
 */
export async function readMeterUsage(
  { rollup, ...usage }: MeterUsageDeps,
  question: MeterUsageQuestion,
): Promise<MeterUsage> {
  const { environment, meterKey, span } = question;
  const reading = { warehouse: usage.warehouse, sources: usageSources(usage.view) };
  const hours = hoursOf(question, reading.sources);
  const read = async () => {
    const found = await readRows(reading, question, hours);
    return found.isLacking ? undefined : found;
  };
  if (!hours) return readRows(reading, question, undefined);
  const { property } = hours;
  const found =
    property === undefined
      ? await read()
      : await rollup.read({ environment, meterKey, property, span }, read);
  return found ?? (await readRows(reading, question, undefined));
}

export interface MeterUsageDeps extends ViewedUsage {
  rollup: PropertyRollup;
}

/** `hours`: the rollup that whole hours are read from. */
interface Reading extends Pick<ViewedUsage, 'warehouse'> {
  sources: UsageSources;
}

async function readRows(
  { warehouse, sources }: Reading,
  question: MeterUsageQuestion,
  hours: HoursOfRollup | undefined,
): Promise<MeterUsage & { isLacking: boolean }> {
  const { environment, meterKey, customerId = '', groupBy, filter, span, starts, limit } = question;
  const rows = await warehouse.query<UsageRow>({
    sql: statementOf(question, sources, hours),
    params: {
      ...{ environment, meter: meterKey, customer: customerId, limit, from: span.fromMs, to: span.toMs },
      names: groupBy.filter((name) => name !== BY_CUSTOMER),
      starts: starts.map(String),
      property: hours?.property ?? '',
      ...edgeParams(hours ? edgeHours(question) : []),
      ...filterParams(filter),
    },
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  const isLacking = rows.some(({ lacks }) => Number(lacks) !== 0);
  return { ...usageOf(rows, limit), source: hours ? 'rollup' : 'events', isLacking };
}

/** The rollup that has what is asked for; `property`: of usage_by_property. */
interface HoursOfRollup {
  sql: string;
  property: string | undefined;
}

/** Rollups have no single values, and usage by one property at most. */
function hoursOf(question: MeterUsageQuestion, sources: UsageSources): HoursOfRollup | undefined {
  const { groupBy, filter, quantiles } = question;
  if (sources.restates(question.aggregation)) return undefined;
  const properties = groupBy.filter((name) => name !== BY_CUSTOMER);
  if (quantiles.length > 0 || properties.length + filter.length > 1) return undefined;
  const [property] = properties;
  const [name = '', value = ''] = filter[0] ?? [];
  if (property === '' || (filter.length > 0 && (name === '' || value === ''))) return undefined;
  if (property !== undefined) return { sql: valuesOfHours(question, sources), property };
  const inSpan = `
 WHERE ${inWholeHours(question)} `;
  if (filter.length === 0) {
    const from = { hours: sources.hours(inSpan, { alias: 'used' }), lacking: '0' };
    return { sql: hoursSql(question, sources, from), property: undefined };
  }
  const ofValue = `${inSpan}AND used.property = {filterName0:String} AND used.value = {filterValue0:String}`;
  const lacking = lackingSql(question.aggregation, 'used.unordered');
  const from = { hours: sources.byProperty(ofValue, 'used'), lacking };
  return { sql: hoursSql(question, sources, from), property: name };
}

/** Hours (UTC) that the span or a bucket cuts: their usage is read from the events. */
function edgeHours({ span, starts }: MeterUsageQuestion): number[] {
  return cutHours([...starts, span.toMs]);
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
function statementOf(
  question: MeterUsageQuestion,
  sources: UsageSources,
  hours: HoursOfRollup | undefined,
): string {
  const { merged } = AGGREGATE_SQL[question.aggregation];
  const quantiles = quantilesSql(question.quantiles);
  const parts = hours
    ? [hours.sql, ...(edgeHours(question).length > 0 ? [edgesSql(question, sources)] : [])]
    : [eventsSql(question, sources.events)];
  return `
SELECT grouping(bucket) AS isWhole, grouping(slot) AS isAll, slot, bucket, any(labels) AS names,
       sum(n) AS count, toString(${merged}) AS total, ${quantiles.merged} AS spreads, max(place) AS places,
       max(lacking) AS lacks
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

const HOUR_BUCKET = BUCKET('toInt64(toUnixTimestamp(hour)) * 1000');
const inWholeHours = (question: MeterUsageQuestion) => `${ofMeter(question)}
   AND toInt64(toUnixTimestamp(hour)) * 1000 >= {from:Int64}
   AND toInt64(toUnixTimestamp(hour)) * 1000 < {to:Int64}
   AND toUnixTimestamp(hour) NOT IN (SELECT toUInt32(arrayJoin({edges:Array(String)})))`;

function hoursSql(
  question: MeterUsageQuestion,
  sources: UsageSources,
  { hours, lacking }: { hours: string; lacking: string },
): string {
  const { aggregation } = question;
  return `SELECT ${HOUR_BUCKET} AS bucket, ${labelsSql(question.groupBy)} AS labels,
       toUInt64(sum(used.events)) AS n, ${AGGREGATE_SQL[aggregation].ofHours} AS state, 0 AS spread,
       toUInt64(${lacking}) AS lacking
  FROM ${hours}
 GROUP BY bucket, labels${sources.notVoided('n')}`;
}

/** By the values of the one property, and perhaps by customer. */
function valuesOfHours(question: MeterUsageQuestion, sources: UsageSources): string {
  const { aggregation, groupBy } = question;
  const labels = groupBy.map((name) => (name === BY_CUSTOMER ? 'customer' : 'label')).join(', ');
  const keys = [`${HOUR_BUCKET} AS bucket`, ...(groupBy.length > 1 ? ['customer_id AS customer'] : [])];
  return `SELECT bucket, [${labels}] AS labels, counted AS n, state, 0 AS spread, lacking
  FROM (${valuesSql({ aggregation, keys, where: inWholeHours(question), sources })})`;
}

/** `from` gives the events of a condition. */
function eventsSql(question: MeterUsageQuestion, from: (where: string) => string): string {
  const { groupBy, filter, aggregation, quantiles } = question;
  const inSpan = `
 WHERE ${ofMeter(question)} AND ${mergedWithin('from', 'to')} ${filterSql(filter)}`;
  return `SELECT ${BUCKET('toUnixTimestamp64Milli(occurred_at)')} AS bucket,
       ${labelsSql(groupBy)} AS labels, count() AS n,
       ${AGGREGATE_SQL[aggregation].ofEvents} AS state, ${quantilesSql(quantiles).ofEvents},
       toUInt64(0) AS lacking
  FROM ${from(inSpan)}
 GROUP BY bucket, labels`;
}

/**
 * The events of the edge hours, each once: the earliest, as FINAL gives it. Where these hours are few,
 * sorting their rows takes a fifth of the CPU of FINAL, which merges all hours of all customers.
 */
function edgesSql(question: MeterUsageQuestion, sources: UsageSources): string {
  const isEdge = `${ofMeter(question)} AND ${occurredWithin('edgesFrom', 'edgesTo')}
       AND toUnixTimestamp(toStartOfHour(occurred_at)) IN (
           SELECT toUInt32(arrayJoin({edges:Array(String)})))`;
  if (!sources.isPlain || edgeHours(question).length > SORTED_EDGES_MAX) {
    const edges = `(SELECT * FROM ${sources.events(` WHERE ${isEdge}`)})`;
    return eventsSql(question, (where) => `${edges}${where}`);
  }
  const edges = `(
    SELECT environment, customer_id, meter_key, id, value, unique_value, properties, occurred_at, created_at
      FROM metergate.events WHERE ${isEdge}
     ORDER BY created_at LIMIT 1 BY customer_id, toStartOfHour(occurred_at), id)`;
  return eventsSql(question, (where) => `${edges}${where}`);
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
