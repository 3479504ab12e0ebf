import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { labelOf } from '../../infra/store/aggregate-sql.ts';
import type { LabelledUsage } from '../../schemas/rules/burn-dues.ts';
import { type CreditRates, labelOfValue, UNRATED } from '../../schemas/rules/credit-cost.ts';
import { decimalUnits } from '../../schemas/rules/decimal.ts';
import { askedParams, askedTable, isOfAsked } from './asked-spans.ts';
import type { UsageQuestion } from './read-usage.ts';

/** Usage by the values that have rates. */
export interface LabelQuestion extends UsageQuestion {
  property: NonNullable<CreditRates['property']>;
}

const TIMEOUT_MS = 8_000;

/**
 * Of each the sums by label, all from the events. All are of one aggregation, one property and the same
 * values. Throws Transient.
 */
export async function readLabelledUsage(
  warehouse: Warehouse,
  questions: readonly LabelQuestion[],
): Promise<LabelledUsage[][]> {
  const answers: LabelledUsage[][] = questions.map(() => []);
  const [first] = questions;
  if (!first) return answers;
  const rows = await warehouse.query<{ place: string; isRated: number; rated: string; amount: string }>({
    sql: labelSql(first),
    params: {
      ...askedParams(
        'event',
        questions.map(({ span, ...question }, place) => ({ ...question, ...span, place })),
      ),
      from: Math.min(...questions.map(({ span }) => span.fromMs)),
      to: Math.max(...questions.map(({ span }) => span.toMs)),
      property: first.property.name,
      values: Object.keys(first.property.rates),
    },
    lane: 'settlement',
    timeoutMs: TIMEOUT_MS,
  });
  for (const { place, isRated, rated, amount } of rows) {
    const label = Number(isRated) === 1 ? labelOfValue(rated) : UNRATED;
    answers[Number(place)]?.push({ label, units: decimalUnits(amount) });
  }
  return answers;
}

function labelSql({ aggregation }: LabelQuestion): string {
  const amount = aggregation === 'count' ? 'count()' : 'sum(value)';
  return `
SELECT place, has({values:Array(String)}, label) AS isRated, if(isRated, label, '') AS rated,
       toString(${amount}) AS amount
  FROM (SELECT environment, customer_id, meter_key, ${labelOf('{property:String}')} AS label,
               value, occurred_at
          FROM metergate.events FINAL
         WHERE ${isOfAsked('event')}
           AND occurred_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
           AND occurred_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')) AS told
 INNER JOIN ${askedTable('event')} AS asked USING (environment, customer_id, meter_key)
 WHERE toUnixTimestamp64Milli(occurred_at) >= from_ms AND toUnixTimestamp64Milli(occurred_at) < to_ms
 GROUP BY place, isRated, rated`;
}
