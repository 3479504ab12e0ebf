import { ONE } from '../../domain/rules/rating/charge.ts';
import { isShareAlone, unboundedValues } from '../../domain/rules/rating/percentage.ts';
import type { PeriodUsage, SpanOfPeriod } from '../../domain/rules/rating/rate-price.ts';
import { Defect } from '../../schemas/failures.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { unitsText } from '../../schemas/primitives/decimal.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type {
  BoundsQuestion,
  readByBound,
  readByValue,
  readTotals,
  UsageQuestion,
  ValuesQuestion,
} from '../store/read-priced-usage.ts';
import type { CostSpan } from './cost-span.ts';

/** What usage is counted by. */
export interface MeteredFacts {
  /** By meter key. */
  aggregations: ReadonlyMap<string, Aggregation>;
  /** The value of the customer's feature now, units of 10^-12; undefined: none or unlimited. */
  seatsOf: (span: CostSpan, featureKey: string) => bigint | undefined;
}

/** One statement each, at most. */
export interface UsageReads {
  totals: (questions: UsageQuestion[]) => ReturnType<typeof readTotals>;
  byValue: (questions: ValuesQuestion[]) => ReturnType<typeof readByValue>;
  byBound: (questions: BoundsQuestion[]) => ReturnType<typeof readByBound>;
}

/** The usage of spans, and of further questions, each in their order. */
export interface ReadUsage {
  usages: SpanOfPeriod[];
  totals: bigint[];
}

/** Each question is read once, whatever has asked it. Throws Transient. */
export async function readSpanUsage(
  reads: UsageReads,
  facts: MeteredFacts,
  { spans, questions = [] }: { spans: readonly CostSpan[]; questions?: readonly UsageQuestion[] },
): Promise<ReadUsage> {
  const asked = createQuestions(facts);
  const needed = spans.map((span) => ({
    until: asked.need(span, 'until'),
    before: span.earlier.length === 0 ? undefined : asked.need(span, 'before'),
    changed: span.changed.length === 0 ? undefined : asked.need(span, 'changed'),
  }));
  const places = questions.map(asked.place);
  const found = await asked.read(reads);
  return {
    usages: needed.map(({ until, before, changed }) => {
      return { until: until(found), before: before?.(found), changed: changed?.(found) };
    }),
    totals: places.map((at) => found.totals[at] ?? 0n),
  };
}

interface Found {
  totals: Awaited<ReturnType<UsageReads['totals']>>;
  byValue: Awaited<ReturnType<UsageReads['byValue']>>;
  byBound: Awaited<ReturnType<UsageReads['byBound']>>;
}

type Needed = (found: Found) => PeriodUsage;

function createQuestions({ aggregations, seatsOf }: MeteredFacts) {
  const totals = createList<UsageQuestion>();
  const byValue = createList<ValuesQuestion>();
  const byBound = createList<BoundsQuestion>();

  function need(span: CostSpan, which: 'until' | 'before' | 'changed'): Needed {
    const { price, customerId, earlier, changed, quantity } = span;
    // A quantity only grows: what was charged stays.
    const count = which === 'until' ? quantity.until : quantity.before;
    if (price.model === 'flat') return () => ({ units: BigInt(count) * ONE });
    if (price.model === 'seat') {
      const units = seatsOf(span, price.featureKey) ?? 0n;
      return () => ({ units });
    }
    const { meterKey } = price;
    const aggregation = aggregations.get(meterKey);
    if (!aggregation) throw new Defect(`a price is of a meter that is missing: ${meterKey}`);
    const parts = joined({ until: [...earlier, span], before: earlier, changed }[which]);
    const question = { customerId, meterKey, aggregation, parts };
    if (price.model === 'per_unit' && price.unitAmounts) {
      const { property, amounts } = price.unitAmounts;
      const counted = aggregation === 'count' ? aggregation : 'sum';
      const at = byValue.place({ ...question, aggregation: counted, property, values: Object.keys(amounts) });
      return (found) => ofValues(found.byValue[at] ?? []);
    }
    if (price.model === 'percentage' && !isShareAlone(price)) {
      const { from, to } = unboundedValues(price);
      const at = byBound.place({ ...question, from: unitsText(from), to: unitsText(to) });
      return ({ byBound: read }) => ({
        units: read[at]?.total ?? 0n,
        ...(read[at] ? { byBound: read[at] } : {}),
      });
    }
    const at = totals.place(question);
    return (found) => ({ units: found.totals[at] ?? 0n });
  }

  async function read(reads: UsageReads): Promise<Found> {
    const [ofTotals, values, bounds] = await Promise.all([
      totals.list.length === 0 ? [] : reads.totals(totals.list),
      byValue.list.length === 0 ? [] : reads.byValue(byValue.list),
      byBound.list.length === 0 ? [] : reads.byBound(byBound.list),
    ]);
    return { totals: ofTotals, byValue: values, byBound: bounds };
  }

  return { need, place: totals.place, read };
}

function ofValues(byValue: NonNullable<PeriodUsage['byValue']>): PeriodUsage {
  return { units: byValue.reduce((sum, { units }) => sum + units, 0n), byValue };
}

/** Questions, each once. */
function createList<Question>() {
  const places = new Map<string, number>();
  const list: Question[] = [];
  return {
    list,
    place(question: Question): number {
      const name = JSON.stringify(question);
      const at = places.get(name) ?? list.push(question) - 1;
      places.set(name, at);
      return at;
    },
  };
}

/** Parts in order, those that meet as one. */
function joined(parts: readonly Span[]): Span[] {
  const all: Span[] = [];
  for (const { fromMs, toMs } of parts) {
    const last = all.at(-1);
    if (last?.toMs === fromMs) last.toMs = toMs;
    else all.push({ fromMs, toMs });
  }
  return all;
}
