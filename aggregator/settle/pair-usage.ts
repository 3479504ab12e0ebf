import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { BurnCell } from '../../schemas/rules/burn-cells.ts';
import type { LabelledUsage } from '../../schemas/rules/burn-dues.ts';
import type { Span } from '../../schemas/rules/calendar.ts';
import { UNRATED } from '../../schemas/rules/credit-cost.ts';
import { type LabelQuestion, readLabelledUsage } from '../store/read-labelled-usage.ts';
import { readUsage, type UsageQuestion } from '../store/read-usage.ts';
import type { PairFacts } from './pair-facts.ts';

/** Usage of many pairs as it was read at once. Amounts in units of 10^-12. */
export interface PairUsage {
  /** The meter's aggregate over a span that was asked for. */
  total(facts: PairFacts, span: Span): bigint;
  /** What a cell has used, by label. */
  labelled(facts: PairFacts, cell: BurnCell): LabelledUsage[];
}

/** Of one statement: more make it longer than ClickHouse takes. */
const QUESTIONS_MAX = 400;

/** In a few statements, however many pairs there are. Throws Transient. */
export async function readPairUsage(
  warehouse: Pick<Warehouse, 'query'>,
  all: readonly PairFacts[],
): Promise<PairUsage> {
  const totals = new Map<string, UsageQuestion>();
  const labels = new Map<string, LabelQuestion>();
  for (const facts of all) {
    for (const period of facts.watched) totals.set(nameOf(facts, period), questionOf(facts, period));
    for (const cell of facts.cells.flatMap(({ cells }) => cells)) {
      const property = cell.isDue ? cell.rated?.rates?.property : undefined;
      const question = questionOf(facts, cell);
      if (property) labels.set(nameOf(facts, cell), { ...question, property });
      else if (isRead(cell)) totals.set(nameOf(facts, cell), question);
    }
  }
  const total = await answersInParts(totals, (asked) => readUsage(warehouse, asked));
  const labelled = new Map<string, LabelledUsage[]>();
  for (const group of alike(labels)) {
    for (const [name, usage] of await answers(group, (asked) => readLabelledUsage(warehouse, asked))) {
      labelled.set(name, usage);
    }
  }
  const totalOf = (facts: PairFacts, span: Span) => total.get(nameOf(facts, span)) ?? 0n;
  return {
    total: totalOf,
    labelled: (facts, cell) =>
      labelled.get(nameOf(facts, cell)) ?? [{ label: UNRATED, units: totalOf(facts, cell) }],
  };
}

/** What an unlimited customer uses costs nothing. */
function isRead({ isDue, allowance }: BurnCell): boolean {
  return !isDue || allowance !== null;
}

function questionOf({ pair, aggregation }: PairFacts, { fromMs, toMs }: Span): UsageQuestion {
  const { environment, customerId, meterKey } = pair;
  return { environment, customerId, meterKey, aggregation, span: { fromMs, toMs } };
}

function nameOf({ pair }: PairFacts, { fromMs, toMs }: Span): string {
  return `${fromMs} ${toMs} ${pair.customerId} ${pair.meterKey}`;
}

async function answersInParts(
  questions: ReadonlyMap<string, UsageQuestion>,
  read: (asked: UsageQuestion[]) => Promise<bigint[]>,
): Promise<Map<string, bigint>> {
  const entries = [...questions];
  const found = new Map<string, bigint>();
  for (let at = 0; at < entries.length; at += QUESTIONS_MAX) {
    const part = new Map(entries.slice(at, at + QUESTIONS_MAX));
    for (const [name, answer] of await answers(part, read)) found.set(name, answer);
  }
  return found;
}

async function answers<Question, Answer>(
  questions: ReadonlyMap<string, Question>,
  read: (asked: Question[]) => Promise<Answer[]>,
): Promise<Map<string, Answer>> {
  const answered = await read([...questions.values()]);
  const found = new Map<string, Answer>();
  [...questions.keys()].forEach((name, place) => {
    const answer = answered[place];
    if (answer !== undefined) found.set(name, answer);
  });
  return found;
}

/** Those that one statement can answer: of one property with the same values, counted in one way. */
function alike(labels: ReadonlyMap<string, LabelQuestion>): Array<Map<string, LabelQuestion>> {
  const groups = new Map<string, Map<string, LabelQuestion>>();
  for (const [name, question] of labels) {
    const { aggregation, property } = question;
    const kind = JSON.stringify([aggregation, property.name, Object.keys(property.rates)]);
    groups.set(kind, (groups.get(kind) ?? new Map()).set(name, question));
  }
  return [...groups.values()];
}
