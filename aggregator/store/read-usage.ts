import { cut } from '../../domain/rules/billed-periods.ts';
import { AGGREGATE_SQL } from '../../domain/store/aggregate-sql.ts';
import { type UsageSources, usageSources } from '../../domain/store/usage-sources.ts';
import { NO_CHANGES, type UsageView } from '../../domain/store/usage-views.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { HOUR_MS, type Span, splitByHours } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { CustomerMeterPlace } from './read-budgets.ts';
import { isOfRequested, type RequestedSpan, requestedParams, requestedTable } from './requested-spans.ts';

/** A stretch of a customer's usage of a meter. */
export interface UsageQuestion extends CustomerMeterPlace {
  aggregation: Aggregation;
  span: Span;
}

const TIMEOUT_MS = 8_000;
/** So many of one span have a statement of their own: 0.05 ms of CPU each where a join takes 0.2. */
const COMMON_MIN = 8;

/**
 * The aggregate of each, in units of 10^-12: whole hours from the rollup, the edges from the events. In a few
 * statements, however many questions there are; environments whose usage was changed have their own. Throws
 * Transient.
 */
export async function readUsage(stored: StoredUsage, questions: readonly UsageQuestion[]): Promise<bigint[]> {
  const sums: UsageSums = new Map();
  for (const { view, own } of byView(stored, questions)) {
    await readOfView({ warehouse: stored.warehouse, sources: usageSources(view) }, own, sums);
  }
  return questions.map((question) => sums.get(question) ?? 0n);
}

/** The views are of one time, by environment. */
export interface StoredUsage {
  warehouse: Pick<Warehouse, 'query'>;
  views: ReadonlyMap<string, UsageView>;
}

/** Questions that one statement may read: of all environments without changes, or of one with them. */
export function byView<Question extends CustomerMeterPlace>(
  { views }: StoredUsage,
  questions: readonly Question[],
): Array<{ view: UsageView; own: Question[] }> {
  const groups = new Map<string, { view: UsageView; own: Question[] }>();
  for (const question of questions) {
    const view = views.get(question.environment) ?? NO_CHANGES;
    const name = view.upTo === 0 ? '' : question.environment;
    const group = groups.get(name) ?? { view, own: [] };
    group.own.push(question);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** Where the questions of one view are read. */
interface Reading {
  warehouse: Pick<Warehouse, 'query'>;
  sources: UsageSources;
}

type UsageSums = Map<UsageQuestion, bigint>;

async function readOfView(
  reading: Reading,
  questions: readonly UsageQuestion[],
  sums: UsageSums,
): Promise<void> {
  const groups = grouped(questions, ({ environment, aggregation, span }) => {
    return `${environment} ${aggregation} ${span.fromMs} ${span.toMs}`;
  });
  const common = groups.filter((group) => group.length >= COMMON_MIN && group.every(isOfWholeHours));
  const others = groups.filter((group) => !common.includes(group)).flat();
  for (const group of common) await readCommon(reading, group, sums);
  for (const group of grouped(others, ({ aggregation }) => aggregation)) {
    await readJoined(reading, group, sums);
  }
}

function grouped(
  questions: readonly UsageQuestion[],
  nameOf: (question: UsageQuestion) => string,
): UsageQuestion[][] {
  const groups = new Map<string, UsageQuestion[]>();
  for (const question of questions) {
    const name = nameOf(question);
    const group = groups.get(name);
    if (group) group.push(question);
    else groups.set(name, [question]);
  }
  return [...groups.values()];
}

function isOfWholeHours({ span }: UsageQuestion): boolean {
  return span.fromMs % HOUR_MS === 0 && span.toMs % HOUR_MS === 0;
}

/** Of one environment, aggregation and span, as of calendar months. */
async function readCommon(
  { warehouse, sources }: Reading,
  group: UsageQuestion[],
  sums: UsageSums,
): Promise<void> {
  const [first] = group;
  if (!first) return;
  const { ofHours, ofEvents, merged } = AGGREGATE_SQL[first.aggregation];
  const restates = sources.restates(first.aggregation);
  const place = 'customer_id AS customer, meter_key AS meter';
  const restated = `
   UNION ALL
  SELECT ${place}, ${ofEvents} AS state FROM ${sources.restated(IN_HOURS)} GROUP BY customer, meter`;
  const rows = await warehouse.query<{ customer: string; meter: string; current: string }>({
    sql: `SELECT customer, meter, toString(${merged}) AS current FROM (
  SELECT ${place}, ${ofHours} AS state
    FROM ${sources.hours(IN_HOURS, { restates })}
   GROUP BY customer, meter${restates ? restated : ''})
GROUP BY customer, meter`,
    params: {
      environment: first.environment,
      customers: [...new Set(group.map(({ customerId }) => customerId))],
      meters: [...new Set(group.map(({ meterKey }) => meterKey))],
      from: first.span.fromMs / 1000,
      to: first.span.toMs / 1000,
    },
    connection: 'settlement',
    timeoutMs: TIMEOUT_MS,
  });
  const current = new Map(rows.map((row) => [`${row.customer} ${row.meter}`, row.current]));
  for (const question of group) {
    const { customerId, meterKey } = question;
    sums.set(question, decimalUnits(current.get(`${customerId} ${meterKey}`) ?? '0'));
  }
}

const IN_HOURS = `
   WHERE environment = {environment:String} AND customer_id IN {customers:Array(String)}
     AND meter_key IN {meters:Array(String)}
     AND hour >= toDateTime({from:Int64}, 'UTC') AND hour < toDateTime({to:Int64}, 'UTC')`;

/** Of one aggregation, each with a span of its own. */
async function readJoined(
  { warehouse, sources }: Reading,
  group: UsageQuestion[],
  sums: UsageSums,
): Promise<void> {
  const hours = group.flatMap(({ span, ...question }, place) => {
    const { fromMs, toMs } = splitByHours(span).hours;
    return fromMs < toMs ? [{ ...question, place, fromMs, toMs }] : [];
  });
  const edges = group.flatMap(({ span, ...question }, place) =>
    edgesOf(span).map((edge) => ({ ...question, place, ...edge })),
  );
  const parts = [
    ...(hours.length > 0 ? hoursSql(group, sources) : []),
    ...(edges.length > 0 ? [edgesSql(group, sources)] : []),
  ];
  if (parts.length === 0) return;
  const rows = await warehouse.query<{ place: string; current: string }>({
    sql: `SELECT place, toString(${aggregateOf(group).merged}) AS current
      FROM (${parts.join('\nUNION ALL\n')}) GROUP BY place`,
    params: { ...boundsOf(hours), ...requestedParams('hour', hours), ...requestedParams('event', edges) },
    connection: 'settlement',
    timeoutMs: TIMEOUT_MS,
  });
  for (const { place, current } of rows) {
    const question = group[Number(place)];
    if (question) sums.set(question, decimalUnits(current));
  }
}

/** Each within one hour. */
function edgesOf(span: Span): Span[] {
  const { head, tail } = splitByHours(span);
  // Where no hour is whole, the head may reach into the next one.
  const nextMs = (Math.floor(head.fromMs / HOUR_MS) + 1) * HOUR_MS;
  return [...cut(head, [nextMs]), ...cut(tail, [])];
}

function aggregateOf([first]: readonly UsageQuestion[]) {
  return AGGREGATE_SQL[first?.aggregation ?? 'sum'];
}

function boundsOf(spans: readonly RequestedSpan[]): Record<string, number> {
  return {
    from: spans.reduce((first, { fromMs }) => Math.min(first, fromMs), Number.MAX_SAFE_INTEGER) / 1000,
    to: spans.reduce((last, { toMs }) => Math.max(last, toMs), 0) / 1000,
  };
}

function hoursSql(group: readonly UsageQuestion[], sources: UsageSources): string[] {
  const { ofHours, ofEvents } = aggregateOf(group);
  const [{ aggregation }] = group as [UsageQuestion];
  const restates = sources.restates(aggregation);
  const inHours = `
           WHERE ${isOfRequested('hour')}
             AND hour >= toDateTime({from:Int64}, 'UTC') AND hour < toDateTime({to:Int64}, 'UTC')`;
  const joined = (state: string, from: string) => `SELECT place, ${state} AS state
    FROM (SELECT * FROM ${from}) AS hours
   INNER JOIN ${requestedTable('hour')} AS requested USING (environment, customer_id, meter_key)
   WHERE toInt64(toUnixTimestamp(hour)) * 1000 >= from_ms AND toInt64(toUnixTimestamp(hour)) * 1000 < to_ms
   GROUP BY place`;
  return [
    joined(ofHours, sources.hours(inHours, { restates })),
    ...(restates ? [joined(ofEvents, sources.restated(inHours))] : []),
  ];
}

/** Events of other hours, as each part has at the ends of what is read, are left out before FINAL merges. */
function edgesSql(group: readonly UsageQuestion[], sources: UsageSources): string {
  const inEdges = `
        PREWHERE ${isOfRequested('event')}
             AND toStartOfHour(occurred_at) IN (
                 SELECT toStartOfHour(
                   fromUnixTimestamp64Milli(toInt64(arrayJoin({eventFrom:Array(String)})), 'UTC')))`;
  return `SELECT place, ${aggregateOf(group).ofEvents} AS state
    FROM (SELECT environment, customer_id, meter_key, id, value, unique_value, occurred_at, created_at
            FROM ${sources.events(inEdges)}) AS edges
   INNER JOIN ${requestedTable('event')} AS requested USING (environment, customer_id, meter_key)
   WHERE toUnixTimestamp64Milli(occurred_at) >= from_ms AND toUnixTimestamp64Milli(occurred_at) < to_ms
   GROUP BY place`;
}
