import { AGGREGATE_SQL, occurredWithin } from '../../domain/store/aggregate-sql.ts';
import { type UsageSources, usageSources } from '../../domain/store/usage-sources.ts';
import type { ViewedUsage } from '../../domain/store/usage-views.ts';
import { HOUR_MS, type Span, splitByHours } from '../../schemas/primitives/calendar.ts';
import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { CustomerMeter } from '../usage/customer-meter.ts';
import { createRecentNames } from './recent-names.ts';

/** For callers without a time of their own. */
const TIMEOUT_MS = 5_000;

/**
 * A meter's aggregate over a span, as canonical decimal text: whole hours from the rollup, the edges from the
 * events. Exact at any millisecond. Throws Transient.
 */
export async function readCounter(
  usage: ViewedUsage,
  customerMeter: CustomerMeter,
  span: Span,
  timeoutMs = TIMEOUT_MS,
): Promise<string> {
  const { key, aggregation } = customerMeter.meter;
  const question = { meterKey: key, aggregation, span };
  const [current = '0'] = await readCountersInOrder(usage, customerMeter, [question], { timeoutMs });
  return current;
}

/** A meter and the span in which it is to be counted. */
export interface CounterQuestion {
  meterKey: string;
  aggregation: Aggregation;
  span: Span;
}

export interface CounterLimits {
  timeoutMs?: number;
  /** Of more events in the edge hours of a group FINAL is asked. */
  comparedMax?: number;
}

/** The same of several meters of one customer, each requested once, by meter key. */
export async function readCounters(
  ...[usage, owner, questions, limits]: Parameters<typeof readCountersInOrder>
): Promise<Map<string, string>> {
  const counters = await readCountersInOrder(usage, owner, questions, limits);
  return new Map(questions.map(({ meterKey }, at) => [meterKey, counters[at] ?? '0']));
}

/**
 * Several counters of one customer in one statement, in the order of the questions; as {@link readCounter}.
 * A meter may be requested for several spans. Groups in which an id stands twice are read once more, merged.
 */
export async function readCountersInOrder(
  { warehouse, view }: ViewedUsage,
  owner: CounterOwner,
  questions: readonly CounterQuestion[],
  { timeoutMs = TIMEOUT_MS, comparedMax = COMPARED_MAX }: CounterLimits = {},
): Promise<string[]> {
  const groups = groupsOf(questions);
  if (groups.length === 0) return [];
  const sources = usageSources(view);
  const endsAt = performance.now() + timeoutMs;
  const read = (some: readonly CounterGroup[], edges: (group: CounterGroup) => string) =>
    warehouse.query<CounterRow>({
      sql: some.map((group) => groupSql(group, sources, edges)).join('\nUNION ALL\n'),
      params: Object.assign(ownerParams(owner), ...some.map(paramsOf)),
      connection: 'counters',
      timeoutMs: Math.max(1, endsAt - performance.now()),
    });
  const merged = (group: CounterGroup) => mergedEdges(group, sources);
  const first = await read(groups, (group) =>
    !sources.isPlain || isMergedLately(owner, group) ? merged(group) : comparedEdges(group, comparedMax),
  );
  const repeated = groups.filter((group) => rememberRepeats(owner, group, first));
  let rows = first;
  // mutant: repeats-counted
  if (repeated.length > 0) {
    const others = first.filter(({ part }) => repeated.every(({ at }) => at !== Number(part)));
    rows = [...others, ...(await read(repeated, merged))];
  }
  const counted = new Map(rows.map(({ part, meter, current }) => [`${part} ${meter}`, current]));
  return questions.map((question) => {
    const part = groups.findIndex(({ name }) => name === nameOf(question));
    return unitsText(decimalUnits(counted.get(`${part} ${question.meterKey}`) ?? '0'));
  });
}

type CounterOwner = Pick<CustomerMeter, 'environment' | 'customerId'>;

/** Of a meter in a part of the statement; `repeats`: rows of its edge hours that may be repeats. */
interface CounterRow {
  part: number;
  meter: string;
  current: string;
  repeats: string;
}

function ownerParams({ environment, customerId }: CounterOwner): Record<string, string> {
  return { environment, customer: customerId };
}

/**
 * Edge hours with an id that stands twice, or with too many to tell: read merged at once, they do not take
 * both statements each time. For a time: ClickHouse may have merged them since.
 */
const mergedLately = createRecentNames({ countMax: 10_000, keptMs: 600_000 });

function isMergedLately(owner: CounterOwner, group: CounterGroup): boolean {
  // mutant: read-twice-each-time
  return group.meterKeys.some((meterKey) => mergedLately.has(edgesName(owner, group, meterKey)));
}

function rememberRepeats(owner: CounterOwner, group: CounterGroup, rows: readonly CounterRow[]): boolean {
  const found = rows.filter(({ part, repeats }) => Number(part) === group.at && Number(repeats) > 0);
  for (const { meter } of found) mergedLately.add(edgesName(owner, group, meter));
  return found.length > 0;
}

function edgesName(owner: CounterOwner, { span }: CounterGroup, meterKey: string): string {
  return [owner.environment, owner.customerId, meterKey, ...edgeHours(span)].join(' ');
}

/** Meters with one aggregation and one span: one part of the statement. */
interface CounterGroup {
  /** Its number, in which the names of its parameters end: {@link paramsOf}. */
  at: number;
  name: string;
  aggregation: Aggregation;
  span: Span;
  meterKeys: string[];
}

function groupsOf(questions: readonly CounterQuestion[]): CounterGroup[] {
  const groups = new Map<string, CounterGroup>();
  for (const question of questions) {
    const { meterKey, aggregation, span } = question;
    const name = nameOf(question);
    const group = groups.get(name) ?? { at: groups.size, name, aggregation, span, meterKeys: [] };
    if (!group.meterKeys.includes(meterKey)) group.meterKeys.push(meterKey);
    groups.set(name, group);
  }
  return [...groups.values()];
}

function nameOf({ aggregation, span }: CounterQuestion): string {
  return `${aggregation} ${span.fromMs} ${span.toMs}`;
}

function groupSql(
  group: CounterGroup,
  sources: UsageSources,
  edges: (group: CounterGroup) => string,
): string {
  const { at, aggregation, span } = group;
  const { ofHours, ofEvents, merged } = AGGREGATE_SQL[aggregation];
  const inHours = `
   WHERE ${ofGroup(at)} AND hour >= toDateTime({hoursFrom${at}:Int64}, 'UTC')
     AND hour < toDateTime({hoursTo${at}:Int64}, 'UTC')`;
  const restates = sources.restates(aggregation);
  const restated = `
  UNION ALL
  SELECT meter_key, ${ofEvents} AS state, toUInt64(0) AS repeated FROM ${sources.restated(inHours)}
   GROUP BY meter_key`;
  return `SELECT ${at} AS part, meter_key AS meter, toString(${merged}) AS current,
       toString(sum(repeated)) AS repeats FROM (
  SELECT meter_key, ${ofHours} AS state, toUInt64(0) AS repeated FROM ${sources.hours(inHours, { restates })}
   GROUP BY meter_key
  ${edgeHours(span).length > 0 ? `UNION ALL ${edges(group)}` : ''}${restates ? restated : ''})
 GROUP BY meter_key`;
}

function ofGroup(at: number): string {
  return `environment = {environment:String} AND customer_id = {customer:String}
     AND meter_key IN {meters${at}:Array(String)}`;
}

/** Events of other hours are left out first: every part that is read begins and ends with some. */
function ofEdgeHours(at: number): string {
  return `${ofGroup(at)} AND toStartOfHour(occurred_at) IN
     (toDateTime({firstEdge${at}:Int64}, 'UTC'), toDateTime({lastEdge${at}:Int64}, 'UTC'))`;
}

/** The hashes of a million ids take some 20 MB. */
const COMPARED_MAX = 1_000_000;

/**
 * Without FINAL, which takes up to half more CPU, and says instead how often an id stands twice, so that
 * FINAL is needed. Hardly ever two hashes agree by chance. Rows beyond `comparedMax` count as
 * repeats. Of two rows of an event also one outside of the span may be the one that counts.
 */
function comparedEdges({ at, aggregation }: CounterGroup, comparedMax: number): string {
  // mutant: repeat-looked-for-within-the-span, rows-beyond-the-compared-believed
  return `
  SELECT meter_key, ${AGGREGATE_SQL[aggregation].ofEventsIf(`(${withinSpan(at)})`)} AS state,
         toUInt64(count() - uniqExactIf(cityHash64(id), rowNumberInAllBlocks() < ${comparedMax}))
           AS repeated
    FROM metergate.events
   PREWHERE ${ofEdgeHours(at)}
   GROUP BY meter_key`;
}

/** Before FINAL only what the sort key has may be judged: occurredInHours. */
function mergedEdges({ at, aggregation }: CounterGroup, sources: UsageSources): string {
  // mutant: repeat-merged-within-the-span
  return `
  SELECT meter_key, ${AGGREGATE_SQL[aggregation].ofEventsIf(`(${withinSpan(at)})`)} AS state,
         toUInt64(0) AS repeated
    FROM ${sources.events(`
   PREWHERE ${ofEdgeHours(at)}`)}
   GROUP BY meter_key`;
}

function withinSpan(at: number): string {
  return occurredWithin(`from${at}`, `to${at}`);
}

function paramsOf({ at, span, meterKeys }: CounterGroup): Record<string, string[] | number> {
  const { hours } = splitByHours(span);
  const [firstEdge = 0, lastEdge = firstEdge] = edgeHours(span);
  return {
    [`meters${at}`]: meterKeys,
    [`hoursFrom${at}`]: hours.fromMs / 1000,
    [`hoursTo${at}`]: hours.toMs / 1000,
    [`firstEdge${at}`]: firstEdge / 1000,
    [`lastEdge${at}`]: lastEdge / 1000,
    [`from${at}`]: span.fromMs,
    [`to${at}`]: span.toMs,
  };
}

/** The hours that the span cuts, two at most: their starts. */
function edgeHours(span: Span): number[] {
  const { head, tail } = splitByHours(span);
  const cut = [head, tail].filter(({ fromMs, toMs }) => fromMs < toMs);
  // A head that no whole hour follows may lie in two.
  const starts = cut.flatMap(({ fromMs, toMs }) => [hourOf(fromMs), hourOf(toMs - 1)]);
  return [...new Set(starts)];
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS;
}
