import { type RatedUsage, type RateVersion, UNRATED } from '../../domain/rules/credit-cost.ts';
import { AGGREGATE_SQL, labelOf, mergedWithin } from '../../domain/store/aggregate-sql.ts';
import { type UsageSources, usageSources } from '../../domain/store/usage-sources.ts';
import type { ViewedUsage } from '../../domain/store/usage-views.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import { type BreakdownQuestion, hoursOf } from './breakdown-hours.ts';
import { timeLabelSql, zoneParams } from './breakdown-labels.ts';
import { byRateSql, rateParams } from './breakdown-rates.ts';
import { cutHours, hoursParams, mergedState } from './by-property-sql.ts';
import type { PropertyRollup, UsageSource } from './property-rollup.ts';
import { filterParams, filterSql } from './usage-filter.ts';
import { customerMeterParams, OF_CUSTOMER_METER } from './usage-sql.ts';
import { quantilesSql, quantileTexts } from './value-quantiles.ts';

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
  /** What was read but for hours that the span cuts. */
  source: UsageSource;
  /** Over all events of the span. */
  all: BreakdownGroup;
  /** Largest total first, then by label; or oldest first. */
  groups: BreakdownGroup[];
  /** The sum of everything beyond the limit. */
  other: BreakdownGroup | undefined;
}

const TIMEOUT_MS = 15_000;

/**
 * Groups of the usage of one customer and meter, in one statement and so in one snapshot: of whole hours from
 * a rollup, where one has what is asked for, and else of the events. Throws Transient.
 */
export async function readBreakdown(
  { warehouse, view, rollup }: BreakdownDeps,
  question: BreakdownQuestion,
): Promise<BreakdownResponse> {
  const sources = usageSources(view);
  const { customerMeter, span } = question;
  const { environment, meter } = customerMeter;
  const hours = hoursOf(question, sources);
  const ofAllEvents = eventsSql(question, sources, EVERYWHERE);
  if (hours === undefined) return readRows(warehouse, question, ofAllEvents);
  const edges = cutHours([...(span ? [span.fromMs, span.toMs] : []), ...question.versions.map(startOf)]);
  const read = async () => {
    const parts = [hours.sql, ...(edges.length > 0 ? [eventsSql(question, sources, IN_EDGES)] : [])];
    const found = await readRows(warehouse, question, togetherSql(question, parts), {
      ...hoursParams(span, edges),
      property: hours.property ?? '',
    });
    return found.isLacking ? undefined : found;
  };
  const { property } = hours;
  const use = { environment, meterKey: meter.key, property: property ?? '', span };
  const found = property === undefined ? await read() : await rollup.read(use, read);
  if (found) return { ...found, source: 'rollup' };
  return readRows(warehouse, question, ofAllEvents);
}

export interface BreakdownDeps extends ViewedUsage {
  rollup: PropertyRollup;
}

function startOf({ startMs }: RateVersion): number {
  return startMs;
}

async function readRows(
  warehouse: ViewedUsage['warehouse'],
  question: BreakdownQuestion,
  groups: string,
  more: Record<string, string | number | string[]> = {},
): Promise<BreakdownResponse & { isLacking: boolean }> {
  const { customerMeter, dimension, span, limit, versions } = question;
  const rows = await warehouse.query<Row>({
    sql: breakdownSql(question, groups),
    params: {
      ...customerMeterParams(customerMeter),
      dimension,
      limit,
      ...rateParams(versions),
      ...zoneParams(question.offsets),
      ...filterParams(question.filter),
      ...(span ? { from: span.fromMs, to: span.toMs } : {}),
      ...more,
    },
    connection: 'long',
    timeoutMs: TIMEOUT_MS,
  });
  const slots = rows
    .filter((row) => Number(row.isAll) === 0)
    .map((row) => ({ ...row, slot: Number(row.slot) }));
  const shown = slots.filter(({ slot }) => slot <= limit).sort((a, b) => a.slot - b.slot);
  const other = slots.find(({ slot }) => slot > limit);
  const all = rows.find((row) => Number(row.isAll) === 1);
  return {
    source: 'events',
    isLacking: Number(all?.lacks ?? 0) !== 0,
    all: groupOf(all),
    groups: shown.map(groupOf),
    other: other && groupOf(other),
  };
}

const EVERYWHERE = '';
const IN_EDGES =
  'AND toUnixTimestamp(toStartOfHour(occurred_at)) IN (SELECT toUInt32(arrayJoin({edges:Array(String)})))';

/** Groups of events. */
function eventsSql(question: BreakdownQuestion, sources: UsageSources, where: string): string {
  const { dimension, span, versions, offsets, filter } = question;
  const { aggregation } = question.customerMeter.meter;
  const byRate = byRateSql(aggregation === 'count' ? 'toUInt64(1)' : 'value', versions);
  const ofQuestion = `
   WHERE ${OF_CUSTOMER_METER} ${span ? `AND ${mergedWithin('from', 'to')}` : ''}
         ${filterSql(filter)} ${where}`;
  return `
  SELECT ${timeLabelSql(dimension, offsets !== undefined) ?? labelOf('{dimension:String}')} AS label,
         count() AS counted, min(occurred_at) AS first, ${AGGREGATE_SQL[aggregation].ofEvents} AS state,
         ${byRate} AS by_rate, ${quantilesSql(question.quantiles).ofEvents}, toUInt64(0) AS lacking
    FROM ${sources.events(ofQuestion)}
   GROUP BY label`;
}

/** Groups that several parts have, as one. */
function togetherSql({ customerMeter }: BreakdownQuestion, parts: readonly string[]): string {
  const { merged } = AGGREGATE_SQL[customerMeter.meter.aggregation];
  return `
  SELECT label, sum(part.counted) AS counted, min(part.first) AS first, ${mergedState(merged)} AS state,
         sumMap(part.by_rate.1, part.by_rate.2) AS by_rate, 0 AS spread, max(part.lacking) AS lacking
    FROM (${parts.join('\nUNION ALL\n')}) AS part
   GROUP BY label`;
}

/** The parts of all groups, placed by their order and summed up to the limit. */
function breakdownSql({ customerMeter, quantiles, order }: BreakdownQuestion, groups: string): string {
  const { merged } = AGGREGATE_SQL[customerMeter.meter.aggregation];
  return `
WITH grouped AS (${groups}),
placed AS (
  SELECT label, counted, state, by_rate, spread, lacking,
         row_number() OVER (ORDER BY ${order === 'time' ? 'first' : 'finalizeAggregation(state) DESC'}, label)
           AS place
    FROM grouped)
SELECT grouping(slot) AS isAll, slot, any(label) AS name, sum(counted) AS count, toString(${merged}) AS total,
       ${quantilesSql(quantiles).merged} AS spreads, sumMap(by_rate.1, by_rate.2) AS amounts,
       amounts.1 AS ratedLabels, arrayMap(amount -> toString(amount), amounts.2) AS ratedAmounts,
       max(lacking) AS lacks
  FROM (SELECT *, least(place, {limit:UInt64} + 1) AS slot FROM placed)
 GROUP BY GROUPING SETS ((slot), ())`;
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
  lacks: string;
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
