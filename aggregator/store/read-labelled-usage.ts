import { type CreditRates, labelOfValue, UNRATED } from '../../domain/rules/credit-cost.ts';
import type { LabelledUsage } from '../../domain/rules/usage-cost.ts';
import { labelOf, occurredInHours } from '../../domain/store/aggregate-sql.ts';
import { type UsageSources, usageSources } from '../../domain/store/usage-sources.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { readTogether, type Stretch, stretchesOf } from './labelled-stretches.ts';
import { byView, type StoredUsage, type UsageQuestion } from './read-usage.ts';
import { isOfRequested, requestedParams, requestedTable } from './requested-spans.ts';

/** Usage by the values that have rates. */
export interface LabelQuestion extends UsageQuestion {
  property: NonNullable<CreditRates['property']>;
}

/** All events of an hour of a busy customer, on a busy machine. */
const TIMEOUT_MS = 20_000;

/**
 * The sums of each by label, all from the events. All are of one aggregation, one property and the same
 * values; spans of one customer meter do not overlap. Throws Transient.
 */
export async function readLabelledUsage(
  stored: StoredUsage,
  questions: readonly LabelQuestion[],
): Promise<LabelledUsage[][]> {
  const sums = new Map(questions.map((question) => [question, new Map<string, bigint>()]));
  for (const { view, own } of byView(stored, questions)) {
    await readOfView({ warehouse: stored.warehouse, sources: usageSources(view) }, own, sums);
  }
  return questions.map((question) => {
    return [...(sums.get(question) ?? [])].map(([label, units]) => ({ label, units }));
  });
}

/** Where the questions of one view are read. */
interface Reading extends Pick<StoredUsage, 'warehouse'> {
  sources: UsageSources;
}

async function readOfView(
  reading: Reading,
  questions: readonly LabelQuestion[],
  sums: ReadonlyMap<LabelQuestion, Map<string, bigint>>,
): Promise<void> {
  const [first] = questions;
  if (!first) return;
  for (const group of readTogether(stretchesOf(questions))) {
    const takers = new Map(group.map((stretch) => [stretch.place, stretch.takers]));
    for (const row of await readStretches(reading, first, group)) {
      const taker = takers.get(Number(row.place));
      const place = typeof taker === 'number' ? taker : taker?.get(Number(row.hourMs));
      const question = place === undefined ? undefined : questions[place];
      const sum = question && sums.get(question);
      const label = Number(row.isRated) === 1 ? labelOfValue(row.rated) : UNRATED;
      sum?.set(label, (sum.get(label) ?? 0n) + decimalUnits(row.amount));
    }
  }
}

interface StretchRow {
  place: string;
  hourMs: string;
  isRated: number;
  rated: string;
  amount: string;
}

function readStretches(
  { warehouse, sources }: Reading,
  { aggregation, property }: LabelQuestion,
  group: readonly Stretch[],
): Promise<StretchRow[]> {
  return warehouse.query<StretchRow>({
    sql: labelSql(aggregation, sources),
    params: {
      ...requestedParams('event', group),
      from: group.reduce((first, { fromMs }) => Math.min(first, fromMs), Number.MAX_SAFE_INTEGER),
      to: group.reduce((last, { toMs }) => Math.max(last, toMs), 0),
      property: property.name,
      values: Object.keys(property.rates),
    },
    connection: 'settlement',
    timeoutMs: TIMEOUT_MS,
  });
}

/** By hour: each hour of a stretch that is requested by hours is a result of its own. */
function labelSql(aggregation: LabelQuestion['aggregation'], sources: UsageSources): string {
  const amount = aggregation === 'count' ? 'count()' : 'sum(value)';
  const inHours = `
         WHERE ${isOfRequested('event')}
           AND ${occurredInHours('from', 'to')}`;
  return `
SELECT place, toInt64(toUnixTimestamp(toStartOfHour(occurred_at))) * 1000 AS hourMs,
       has({values:Array(String)}, label) AS isRated, if(isRated, label, '') AS rated,
       toString(${amount}) AS amount
  FROM (SELECT environment, customer_id, meter_key, ${labelOf('{property:String}')} AS label,
               value, occurred_at
          FROM ${sources.events(inHours)}) AS labelled
 INNER JOIN ${requestedTable('event')} AS requested USING (environment, customer_id, meter_key)
 WHERE toUnixTimestamp64Milli(occurred_at) >= from_ms AND toUnixTimestamp64Milli(occurred_at) < to_ms
 GROUP BY place, hourMs, isRated, rated`;
}
