import { labelOfValue, type RatedUsage, type RateVersion, UNRATED } from '../../domain/rules/credit-cost.ts';
import { AGGREGATE_SQL, labelOf, occurredWithin } from '../../domain/store/aggregate-sql.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { offsetText } from '../analytics/local-labels.ts';
import type { ZoneOffset } from '../analytics/zone-offsets.ts';
import type { CustomerMeter } from '../usage/customer-meter.ts';
import { filterParams, filterSql, type PropertyFilter } from './usage-filter.ts';
import { customerMeterParams, OF_CUSTOMER_METER } from './usage-sql.ts';
import { quantilesSql, quantileTexts } from './value-quantiles.ts';

export interface BreakdownQuestion {
  customerMeter: CustomerMeter;
  /** A property, or one of {@link TIME_FORMATS}. */
  dimension: string;
  /** Of the local time by which hours, days and months are counted; undefined: UTC. */
  offsets: readonly ZoneOffset[] | undefined;
  filter: PropertyFilter;
  quantiles: readonly number[];
  order: 'time' | 'total';
  /** Undefined: all there is. */
  span: Span | undefined;
  /** The meter's rates, by their start. */
  versions: readonly RateVersion[];
  /** Groups shown one by one. */
  limit: number;
}

/** One group; decimals as canonical text. */
export interface BreakdownGroup {
  label: string;
  total: string;
  count: number;
  /** Of the values of its events, in the order of the question; none without events. */
  quantiles: string[];
  /** If the meter has or had rates: the usage under each of them. */
  rated: RatedUsage[];
}

export interface BreakdownResponse {
  /** Over all events of the span. */
  all: BreakdownGroup;
  /** Largest total first, then by label; or oldest first. */
  groups: BreakdownGroup[];
  /** The sum of everything beyond the limit. */
  other: BreakdownGroup | undefined;
}

const TIMEOUT_MS = 15_000;

/**
 * Groups of the events of one customer and meter, in one statement and so in one snapshot. Throws Transient.
 */
export async function readBreakdown(
  warehouse: Warehouse,
  question: BreakdownQuestion,
): Promise<BreakdownResponse> {
  const { customerMeter, dimension, span, limit, versions } = question;
  const rows = await warehouse.query<Row>({
    sql: breakdownSql(question),
    params: {
      ...customerMeterParams(customerMeter),
      dimension,
      limit,
      ...rateParams(versions),
      ...zoneParams(question.offsets),
      ...filterParams(question.filter),
      ...(span ? { from: span.fromMs, to: span.toMs } : {}),
    },
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  const slots = rows
    .filter((row) => Number(row.isAll) === 0)
    .map((row) => ({ ...row, slot: Number(row.slot) }));
  const shown = slots.filter(({ slot }) => slot <= limit).sort((a, b) => a.slot - b.slot);
  const other = slots.find(({ slot }) => slot > limit);
  return {
    all: groupOf(rows.find((row) => Number(row.isAll) === 1)),
    groups: shown.map(groupOf),
    other: other && groupOf(other),
  };
}

/** A map: a client's property may have the name of a member that every object has. */
const TIME_FORMATS = new Map(
  Object.entries({ $hour: '%Y-%m-%dT%H:00:00.000', $day: '%Y-%m-%d', $month: '%Y-%m' }),
);

const zoneTimes = (name: string) => `arrayMap(text -> toInt64(text), {${name}:Array(String)})`;

/** As `localLabel` (control-plane/analytics/local-labels.ts) names it, by what {@link zoneParams} has. */
function timeLabelSql(dimension: string, isLocal: boolean): string | undefined {
  const format = TIME_FORMATS.get(dimension);
  if (format === undefined) return undefined;
  const since = `roundDown(toUnixTimestamp64Milli(occurred_at), ${zoneTimes('zoneSince')})`;
  const ofZone = (values: string, none: string) =>
    `transform(${since}, ${zoneTimes('zoneSince')}, ${values}, ${none})`;
  const offset = ofZone(zoneTimes('zoneOffsets'), 'toInt64(0)');
  const local = `fromUnixTimestamp64Milli(toUnixTimestamp64Milli(occurred_at) + ${offset}, 'UTC')`;
  const label = `formatDateTime(${isLocal ? local : 'occurred_at'}, '${format}', 'UTC')`;
  if (dimension !== '$hour') return label;
  return `concat(${label}, ${isLocal ? ofZone('{zoneTexts:Array(String)}', "''") : "'Z'"})`;
}

function zoneParams(offsets: readonly ZoneOffset[] = []): Record<string, string[]> {
  return {
    zoneSince: offsets.map(({ fromMs }) => String(fromMs)),
    zoneOffsets: offsets.map(({ offsetMs }) => String(offsetMs)),
    zoneTexts: offsets.map(({ offsetMs }) => offsetText(offsetMs)),
  };
}

/** The newest version that had begun when an event occurred; 0 is before the first. */
const VERSION = `arrayLastIndex(
  start -> toInt64(start) <= toUnixTimestamp64Milli(occurred_at), {starts:Array(String)})`;

/** The version and the label of a rate, as {@link rateParams} lists them for all values with a rate. */
const RATE = `arrayFirst(rate -> has({rates:Array(String)}, rate),
  [concat(toString(${VERSION}), '=', ${labelOf(`{properties:Array(String)}[${VERSION}]`)})])`;

function breakdownSql(question: BreakdownQuestion): string {
  const { dimension, span, versions, offsets, filter, order } = question;
  const { meter } = question.customerMeter;
  const { ofEvents, merged } = AGGREGATE_SQL[meter.aggregation];
  const quantiles = quantilesSql(question.quantiles);
  const byRate = byRateSql(meter.aggregation === 'count' ? 'toUInt64(1)' : 'value', versions);
  return `
WITH grouped AS (
  SELECT ${timeLabelSql(dimension, offsets !== undefined) ?? labelOf('{dimension:String}')} AS label,
         count() AS events, min(occurred_at) AS first, ${ofEvents} AS state, ${byRate} AS by_rate,
         ${quantiles.ofEvents}
    FROM metergate.events FINAL
   WHERE ${OF_CUSTOMER_METER} ${span ? `AND ${occurredWithin('from', 'to')}` : ''} ${filterSql(filter)}
   GROUP BY label),
placed AS (
  SELECT label, events, state, by_rate, spread,
         row_number() OVER (ORDER BY ${order === 'time' ? 'first' : 'finalizeAggregation(state) DESC'}, label)
           AS place
    FROM grouped)
SELECT grouping(slot) AS isAll, slot, any(label) AS name, sum(events) AS count, toString(${merged}) AS total,
       ${quantiles.merged} AS spreads, sumMap(by_rate.1, by_rate.2) AS amounts, amounts.1 AS ratedLabels,
       arrayMap(amount -> toString(amount), amounts.2) AS ratedAmounts
  FROM (SELECT *, least(place, {limit:UInt64} + 1) AS slot FROM placed)
 GROUP BY GROUPING SETS ((slot), ())`;
}

function rateParams(versions: readonly RateVersion[]): Record<string, string[]> {
  return {
    starts: versions.map(({ startMs }) => String(startMs)),
    properties: versions.map(({ rates }) => rates?.property?.name ?? ''),
    rates: versions.flatMap(({ rates }, at) =>
      Object.keys(rates?.property?.rates ?? {}).map((value) => `${at + 1}${labelOfValue(value)}`),
    ),
  };
}

function byRateSql(amount: string, versions: readonly RateVersion[]): string {
  const [first, ...others] = versions;
  if (!first) return 'tuple(emptyArrayString(), emptyArrayUInt64())';
  const isOfAll = others.length === 0 && first.startMs === 0 && !first.rates?.property;
  // A map of one name costs as much as a map of many.
  if (isOfAll) return `tuple(['${first.version}'], [sum(${amount})])`;
  return `sumMap([if(${RATE} != '', ${RATE}, toString(${VERSION}))], [${amount}])`;
}

interface Row {
  isAll: number | string;
  slot: string;
  name: string;
  count: string;
  total: string;
  ratedLabels: string[];
  ratedAmounts: string[];
  spreads: string[];
}

function groupOf(row: Omit<Row, 'slot'> | undefined): BreakdownGroup {
  if (!row) return { label: '', total: '0', count: 0, quantiles: [], rated: [] };
  return {
    label: row.name,
    total: unitsText(decimalUnits(row.total)),
    count: Number(row.count),
    quantiles: Number(row.count) === 0 ? [] : quantileTexts(row.spreads),
    rated: row.ratedLabels.map((name, at) => ratedUsage(name, row.ratedAmounts[at] ?? '0')),
  };
}

/** `2=eu`, or `2` if the value has no rate of its own. */
function ratedUsage(name: string, amount: string): RatedUsage {
  const end = name.indexOf('=');
  const version = Number(end < 0 ? name : name.slice(0, end));
  return { version, label: end < 0 ? UNRATED : name.slice(end), amount };
}
