import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { Span } from '../../schemas/rules/calendar.ts';
import type { RatedUsage } from '../../schemas/rules/credit-cost.ts';
import { decimalUnits, unitsText } from '../../schemas/rules/decimal.ts';
import type { Pair } from '../usage/pair.ts';
import { AGGREGATE_SQL, labelOf, OF_PAIR, occurredWithin, pairParams } from './usage-sql.ts';

export interface BreakdownQuestion {
  pair: Pair;
  /** A property, or one of {@link TIME_LABELS}. */
  dimension: string;
  /** Undefined: all there is. */
  span: Span | undefined;
  /** Groups shown one by one. */
  limit: number;
}

/** One group; decimals as canonical text. */
export interface BreakdownGroup {
  label: string;
  total: string;
  count: number;
  /** Where the meter has rates by value: the usage under each of them. */
  rated: RatedUsage[];
}

export interface BreakdownAnswer {
  /** Over all events of the span. */
  all: BreakdownGroup;
  /** Largest total first, then by label. */
  groups: BreakdownGroup[];
  /** Everything beyond the limit in one. */
  other: BreakdownGroup | undefined;
}

const TIMEOUT_MS = 15_000;

/**
 * Groups of one pair's events, everything in one statement, so that all of it is of one moment. Throws
 * Transient.
 */
export async function readBreakdown(
  warehouse: Warehouse,
  question: BreakdownQuestion,
): Promise<BreakdownAnswer> {
  const { pair, dimension, span, limit } = question;
  const rows = await warehouse.query<Row>({
    sql: breakdownSql(question),
    params: {
      ...pairParams(pair),
      dimension,
      limit,
      ratedProperty: pair.meter.creditRates?.property ?? '',
      ratedValues: Object.keys(pair.meter.creditRates?.rates ?? {}),
      ...(span ? { from: span.fromMs, to: span.toMs } : {}),
    },
    lane: 'long',
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

/** A map: a client's property may be called like something that every object has. */
const TIME_LABELS = new Map(
  Object.entries({
    $hour: `formatDateTime(toStartOfHour(occurred_at), '%Y-%m-%dT%H:00:00.000Z', 'UTC')`,
    $day: `formatDateTime(occurred_at, '%Y-%m-%d', 'UTC')`,
    $month: `formatDateTime(occurred_at, '%Y-%m', 'UTC')`,
  }),
);

/** What has no rate of its own stands under this label, which no client's text can be. */
const UNRATED = 'char(0)';

function breakdownSql({ pair: { meter }, dimension, span }: BreakdownQuestion): string {
  const { ofEvents, merged } = AGGREGATE_SQL[meter.aggregation];
  const rated = labelOf('ratedProperty');
  const amount = meter.aggregation === 'count' ? 'toUInt64(1)' : 'value';
  const byRate = meter.creditRates
    ? `sumMap([if(has({ratedValues:Array(String)}, ${rated}), ${rated}, ${UNRATED})], [${amount}])`
    : `tuple(emptyArrayString(), emptyArrayUInt64())`;
  return `
WITH grouped AS (
  SELECT ${TIME_LABELS.get(dimension) ?? labelOf('dimension')} AS label,
         count() AS events, ${ofEvents} AS state, ${byRate} AS by_rate
    FROM metergate.events FINAL
   WHERE ${OF_PAIR} ${span ? `AND ${occurredWithin('from', 'to')}` : ''}
   GROUP BY label),
placed AS (
  SELECT label, events, state, by_rate,
         row_number() OVER (ORDER BY finalizeAggregation(state) DESC, label) AS place
    FROM grouped)
SELECT grouping(slot) AS isAll, slot, any(label) AS name, sum(events) AS count, toString(${merged}) AS total,
       sumMap(by_rate.1, by_rate.2) AS amounts, amounts.1 AS ratedLabels,
       arrayMap(amount -> toString(amount), amounts.2) AS ratedAmounts
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
}

function groupOf(row: Omit<Row, 'slot'> | undefined): BreakdownGroup {
  if (!row) return { label: '', total: '0', count: 0, rated: [] };
  return {
    label: row.name,
    total: unitsText(decimalUnits(row.total)),
    count: Number(row.count),
    rated: row.ratedLabels.map((label, at) => ({ label, amount: row.ratedAmounts[at] ?? '0' })),
  };
}
