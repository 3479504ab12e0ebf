import type { UsageOfValue } from '../../domain/rules/rating/per-unit.ts';
import type { PercentageUsage } from '../../domain/rules/rating/percentage.ts';
import { AGGREGATE_SQL, labelOf, occurredInHours } from '../../domain/store/aggregate-sql.ts';
import { type UsageSources, usageSources } from '../../domain/store/usage-sources.ts';
import type { ViewedUsage } from '../../domain/store/usage-views.ts';
import type { Statement } from '../../infra/ports/warehouse.ts';
import { HOUR_MS, type Span, splitByHours } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { groupBy } from '../../schemas/primitives/group-by.ts';
import { HOURLY_COLUMNS } from '../../schemas/stored/usage-hourly.ts';
import { AGGREGATIONS, type Aggregation } from '../../schemas/usage-limits.ts';

/** The usage of one meter of one customer in some parts of time, which do not overlap. */
export interface UsageQuestion {
  customerId: string;
  meterKey: string;
  aggregation: Aggregation;
  parts: readonly Span[];
}

/** By the values of a property; those that are not listed count as one. */
export interface ValuesQuestion extends UsageQuestion {
  aggregation: 'sum' | 'count';
  property: string;
  values: readonly string[];
}

/** Of a percentage: events below `from` cost its `min`, events beyond `to` its `max`. Decimal texts. */
export interface BoundsQuestion extends UsageQuestion {
  from: string;
  to: string;
}

/** Each read is one statement, whatever the number of its questions; a few thousand at most. */
export interface PricedUsageRead extends ViewedUsage {
  environment: string;
  connection: Statement['connection'];
  timeoutMs: number;
}

/**
 * In units of 10^-12, in the order of the questions: whole hours from the rollup and the edges from the
 * events, as control-plane/store/read-counter.ts does it. Throws Transient.
 */
export async function readTotals(
  read: PricedUsageRead,
  questions: readonly UsageQuestion[],
): Promise<bigint[]> {
  const numbered = questions.map((question, at) => ({ ...question, at }));
  const scans = SCANS.map((aggregations) => ({
    aggregations,
    asked: numbered.filter(({ aggregation }) => aggregations.includes(aggregation)),
  })).filter(({ asked }) => asked.length > 0);
  const sources = usageSources(read.view);
  const rows = await query<{ question: string; totals: string[] }>(read, {
    sql: scans.map(({ aggregations }, at) => totalsSql(aggregations, at, sources)).join('\nUNION ALL\n'),
    params: Object.assign({}, ...scans.map(({ asked }, at) => totalsParams(asked, at))),
  });
  const totalsOf = new Map(rows.map(({ question, totals }) => [Number(question), totals]));
  return questions.map(({ aggregation }, at) => {
    const place = SCANS[SCAN_OF[aggregation]]?.indexOf(aggregation) ?? 0;
    return decimalUnits(totalsOf.get(at)?.[place] ?? '0');
  });
}

/** Read together: a scan more takes longer than two more sums in one. The others have states of their own. */
const SCAN_OF: Record<Aggregation, number> = { sum: 0, count: 0, max: 0, latest: 1, unique: 2 };

const SCANS: ReadonlyArray<readonly Aggregation[]> = [
  ...groupBy(AGGREGATIONS, (name) => String(SCAN_OF[name])).values(),
];

/** By question. Reads every event of the parts, as there is no rollup by property. Throws Transient. */
export async function readByValue(
  read: PricedUsageRead,
  questions: readonly ValuesQuestion[],
): Promise<UsageOfValue[][]> {
  const rows = await query<{ question: string; label: string; total: string }>(read, {
    sql: valuesSql(usageSources(read.view)),
    params: {
      ...eventParams(questions),
      isCount: questions.map(({ aggregation }) => String(aggregation === 'count')),
      properties: questions.map(({ property }) => property),
      values: questions.flatMap(({ values }, at) => values.map((value) => `${at}=${value}`)),
    },
  });
  const byQuestion = groupBy(rows, ({ question }) => String(question));
  return questions.map((_, at) =>
    (byQuestion.get(String(at)) ?? []).map(({ label, total }) => ({
      value: label === '' ? undefined : label.slice(1),
      units: decimalUnits(total),
    })),
  );
}

const NO_EVENTS: PercentageUsage = { total: 0n, units: 0n, events: 0n, atMin: 0n, atMax: 0n, corrected: 0n };

/** By question. Reads every event of the parts. Throws Transient. */
export async function readByBound(
  read: PricedUsageRead,
  questions: readonly BoundsQuestion[],
): Promise<PercentageUsage[]> {
  const rows = await query<Record<'question' | keyof PercentageUsage, string>>(read, {
    sql: boundsSql(usageSources(read.view)),
    params: {
      ...eventParams(questions),
      froms: questions.map(({ from }) => from),
      tos: questions.map(({ to }) => to),
    },
  });
  const found = new Map(
    rows.map((row) => {
      const [total, units, corrected] = [row.total, row.units, row.corrected].map(decimalUnits);
      const [events, atMin, atMax] = [row.events, row.atMin, row.atMax].map(BigInt);
      return [Number(row.question), { total, units, corrected, events, atMin, atMax } as PercentageUsage];
    }),
  );
  return questions.map((_, at) => found.get(at) ?? NO_EVENTS);
}

async function query<Row>(
  { warehouse, environment, connection, timeoutMs }: PricedUsageRead,
  { sql, params }: { sql: string; params: Params },
): Promise<Row[]> {
  if (sql === '') return [];
  return warehouse.query<Row>({ sql, params: { environment, ...params }, connection, timeoutMs });
}

type Params = NonNullable<Statement['params']>;

/** A part of a question, [from, to) in seconds or milliseconds. */
interface Piece {
  question: number;
  customerId: string;
  meterKey: string;
  from: number;
  to: number;
}

/** As rows; the names of its parameters end in `suffix`: {@link pieceParams}. */
function piecesSql(suffix: string): string {
  const [numbers, names] = [
    ['questions', 'begins', 'ends'],
    ['customers', 'meters'],
  ];
  const arrays = [...numbers, ...names].map((name) => `{${name}${suffix}:Array(String)}`).join(', ');
  return `(SELECT toUInt32(piece.1) AS question, toInt64(piece.2) AS begins, toInt64(piece.3) AS ends,
                  piece.4 AS customer_id, piece.5 AS meter_key
             FROM (SELECT arrayJoin(arrayZip(${arrays})) AS piece))`;
}

function pieceParams(pieces: readonly Piece[], suffix: string): Params {
  return {
    [`questions${suffix}`]: pieces.map(({ question }) => String(question)),
    [`begins${suffix}`]: pieces.map(({ from }) => String(from)),
    [`ends${suffix}`]: pieces.map(({ to }) => String(to)),
    [`customers${suffix}`]: pieces.map(({ customerId }) => customerId),
    [`meters${suffix}`]: pieces.map(({ meterKey }) => meterKey),
    [`customerSet${suffix}`]: [...new Set(pieces.map(({ customerId }) => customerId))],
    [`meterSet${suffix}`]: [...new Set(pieces.map(({ meterKey }) => meterKey))],
    [`begin${suffix}`]: pieces.reduce((first, { from }) => Math.min(first, from), pieces[0]?.from ?? 0),
    [`end${suffix}`]: pieces.reduce((last, { to }) => Math.max(last, to), 0),
  };
}

/** Rows of the pieces' customers and meters, by the sort key; a join alone would read the whole table. */
function ofPieces(suffix: string): string {
  return `environment = {environment:String} AND customer_id IN {customerSet${suffix}:Array(String)}
     AND meter_key IN {meterSet${suffix}:Array(String)}`;
}

/** The first and last time of all pieces: months and hours outside of them are not read. */
function bound(suffix: string, which: 'begin' | 'end'): string {
  return `{${which}${suffix}:Int64}`;
}

function totalsSql(aggregations: readonly Aggregation[], at: number, sources: UsageSources): string {
  const [hours, edges] = [`Hours${at}`, `Edges${at}`];
  const states = (which: 'ofHours' | 'ofEvents') =>
    aggregations.map((name) => `${AGGREGATE_SQL[name][which]} AS ${name}State`).join(', ');
  const merged = aggregations.map((name) => AGGREGATE_SQL[name].merged.replace('(state)', `(${name}State)`));
  const inHours = `
     WHERE ${ofPieces(hours)}
       AND hour >= toDateTime(${bound(hours, 'begin')}, 'UTC')
       AND hour < toDateTime(${bound(hours, 'end')}, 'UTC')`;
  const inEdges = `
     PREWHERE ${ofPieces(edges)}
       AND (customer_id, meter_key, toStartOfHour(occurred_at)) IN (
             SELECT edge.1, edge.2, toStartOfHour(fromUnixTimestamp64Milli(toInt64(edge.3), 'UTC')) FROM (
               SELECT arrayJoin(arrayZip({customersTouched${at}:Array(String)},
                        {metersTouched${at}:Array(String)}, {hoursTouched${at}:Array(String)})) AS edge))
         `;
  // One of them is enough: sums of the events are as right.
  const restates = aggregations.some(sources.restates);
  const ofHours = (which: 'ofHours' | 'ofEvents', from: string) => `SELECT question, ${states(which)} FROM (
    SELECT ${which === 'ofHours' ? HOURLY_COLUMNS : '*'} FROM ${from}) AS used
   INNER JOIN ${piecesSql(hours)} AS pieces USING (customer_id, meter_key)
   WHERE toInt64(toUnixTimestamp(hour)) >= begins AND toInt64(toUnixTimestamp(hour)) < ends
   GROUP BY question
  UNION ALL
  `;
  return `SELECT question, [${merged.map((one) => `toString(${one})`).join(', ')}] AS totals FROM (
  ${ofHours('ofHours', sources.hours(inHours, { restates }))}${
    restates ? ofHours('ofEvents', sources.restated(inHours)) : ''
  }SELECT question, ${states('ofEvents')} FROM (
    SELECT * FROM ${sources.events(inEdges)}) AS used
   INNER JOIN ${piecesSql(edges)} AS pieces USING (customer_id, meter_key)
   WHERE toUnixTimestamp64Milli(occurred_at) >= begins AND toUnixTimestamp64Milli(occurred_at) < ends
   GROUP BY question)
 GROUP BY question`;
}

function totalsParams(questions: ReadonlyArray<UsageQuestion & { at: number }>, group: number) {
  const split = questions.flatMap((question) => {
    return question.parts.map((part) => ({ question, ...splitByHours(part) }));
  });
  const hours = split.flatMap(({ question, hours: { fromMs, toMs } }) =>
    fromMs < toMs ? [pieceOf(question, question.at, { fromMs: fromMs / 1000, toMs: toMs / 1000 })] : [],
  );
  const edges = split.flatMap(({ question, head, tail }) =>
    [head, tail].flatMap((edge) => (edge.fromMs < edge.toMs ? [pieceOf(question, question.at, edge)] : [])),
  );
  const touched = edges.flatMap(({ from, to, ...edge }) => [
    { ...edge, ms: from },
    // Without a whole hour in between it may span two.
    ...(Math.floor(from / HOUR_MS) === Math.floor((to - 1) / HOUR_MS) ? [] : [{ ...edge, ms: to - 1 }]),
  ]);
  return {
    ...pieceParams(hours, `Hours${group}`),
    ...pieceParams(edges, `Edges${group}`),
    [`customersTouched${group}`]: touched.map(({ customerId }) => customerId),
    [`metersTouched${group}`]: touched.map(({ meterKey }) => meterKey),
    [`hoursTouched${group}`]: touched.map(({ ms }) => String(ms)),
  };
}

/** Events of the questions, with the question of each. */
const eventsSql = (sources: UsageSources) => `(
    SELECT * FROM ${sources.events(`
     WHERE ${ofPieces('')}
       AND ${occurredInHours('begin', 'end')}`)}) AS used
   INNER JOIN ${piecesSql('')} AS pieces USING (customer_id, meter_key)
   WHERE toUnixTimestamp64Milli(occurred_at) >= begins AND toUnixTimestamp64Milli(occurred_at) < ends`;

const valuesSql = (sources: UsageSources) => `
SELECT question, label, toString(sum(amount)) AS total FROM (
  SELECT question, {properties:Array(String)}[question + 1] AS property,
         concat('=', ${labelOf('property')}) AS text,
         if(mapContains(properties, property)
            AND has({values:Array(String)}, concat(toString(question), text)), text, '') AS label,
         if({isCount:Array(String)}[question + 1] = 'true', toDecimal128(1, 12), value) AS amount
    FROM ${eventsSql(sources)})
 GROUP BY question, label`;

const boundsSql = (sources: UsageSources) => `
SELECT question, toString(sum(value)) AS total, toString(sumIf(value, isFree)) AS units,
       countIf(isFree) AS events, countIf(isMin) AS atMin, countIf(isMax) AS atMax,
       toString(sumIf(value, value < 0)) AS corrected
  FROM (
    SELECT question, value,
           value >= 0 AND value > toDecimal128({tos:Array(String)}[question + 1], 12) AS isMax,
           value >= 0 AND NOT isMax
             AND value < toDecimal128({froms:Array(String)}[question + 1], 12) AS isMin,
           value >= 0 AND NOT isMax AND NOT isMin AS isFree
      FROM ${eventsSql(sources)})
 GROUP BY question`;

function eventParams(questions: readonly UsageQuestion[]): Params {
  const pieces = questions.flatMap((question, at) =>
    question.parts.map((part) => pieceOf(question, at, part)),
  );
  return pieceParams(pieces, '');
}

function pieceOf({ customerId, meterKey }: UsageQuestion, question: number, { fromMs, toMs }: Span): Piece {
  return { question, customerId, meterKey, from: fromMs, to: toMs };
}
