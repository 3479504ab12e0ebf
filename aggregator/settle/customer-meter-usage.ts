import type { PoolClient } from 'pg';
import { UNRATED } from '../../domain/rules/credit-cost.ts';
import { touchedBy, type UsageCell } from '../../domain/rules/usage-cells.ts';
import type { CellUsage, EarlierUsage, LabelledUsage } from '../../domain/rules/usage-cost.ts';
import { readUsageViews } from '../../domain/store/usage-views.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { type LabelQuestion, readLabelledUsage } from '../store/read-labelled-usage.ts';
import { readUsage, type StoredUsage, type UsageQuestion } from '../store/read-usage.ts';
import type { RatedPeriod, SettlementInputs } from './settlement-inputs.ts';

/** Usage of many customer meters, read at once. Amounts in units of 10^-12. */
export interface CustomerMeterUsage {
  /** Those whose usage was read: with the others it would be more than is settled at once. */
  facts: SettlementInputs[];
  /** The meter's aggregate over a requested span. */
  total(facts: SettlementInputs, span: Span): bigint;
  /** All cells of a period with what they have used. */
  cells(facts: SettlementInputs, period: RatedPeriod): CellUsage[];
  /** What was used before the period, where a limit counts it. */
  earlier(facts: SettlementInputs, period: RatedPeriod): EarlierUsage | undefined;
}

/** Of one statement: more make it longer than ClickHouse takes. */
const QUESTIONS_MAX = 400;
/** Hours read at once, of customer meters whose rates depend on a property. A single one may have more. */
const HOURS_MAX = 20_000;

/**
 * In a few statements, however many customer meters there are, with the changes of usage that are visible to
 * `db` now. Throws Transient.
 */
export async function readCustomerMeterUsage(
  { db, warehouse }: { db: PoolClient; warehouse: Pick<Warehouse, 'query'> },
  all: readonly SettlementInputs[],
): Promise<CustomerMeterUsage> {
  const environments = all.map(({ customerMeter }) => customerMeter.environment);
  const stored = { warehouse, views: await readUsageViews(db, environments) };
  const total = await readTotals(stored, all);
  const totalOf = (facts: SettlementInputs, span: Span) => total.get(nameOf(facts, span)) ?? 0n;
  const read = new Map<RatedPeriod, UsageCell[]>();
  for (const facts of all) {
    for (const period of facts.rated) {
      const differing = period.unread.filter((part) => totalOf(facts, part) !== part.used);
      const { cells } = differing.length > 0 ? period.withHoursOf(touchedBy(differing)) : period;
      read.set(period, cells);
    }
  }
  const facts = firstHours(all, read);
  const labelled = await readLabels(stored, facts, read);
  const usageOf = (one: SettlementInputs, period: RatedPeriod, cell: UsageCell): LabelledUsage[] => {
    if (cell.source === 'total') return [{ label: UNRATED, units: totalOf(one, cell) }];
    if (cell.source === 'labels') return labelled.get(nameOf(one, cell)) ?? [];
    const rows = period.stored.filter(({ fromMs }) => fromMs === cell.fromMs);
    return rows.map(({ label, used = 0n }) => ({ label, units: used }));
  };
  return {
    facts,
    total: totalOf,
    earlier: (one, { earlier: span }) => span && { toMs: span.toMs, units: totalOf(one, span) },
    cells: (one, period) =>
      (read.get(period) ?? []).map((cell) => ({ cell, usage: usageOf(one, period, cell) })),
  };
}

/** The customer meters that are settled now; the first one however much it takes. */
function firstHours(
  all: readonly SettlementInputs[],
  read: ReadonlyMap<RatedPeriod, UsageCell[]>,
): SettlementInputs[] {
  let hours = 0;
  const end = all.findIndex(({ rated }, at) => {
    for (const period of rated) {
      hours += (read.get(period) ?? []).filter(({ source }) => source === 'labels').length;
    }
    return at > 0 && hours > HOURS_MAX;
  });
  return end < 0 ? [...all] : all.slice(0, end);
}

async function readTotals(
  stored: StoredUsage,
  all: readonly SettlementInputs[],
): Promise<Map<string, bigint>> {
  const totals = new Map<string, UsageQuestion>();
  for (const facts of all) {
    const summed = facts.rated.flatMap(({ cells, earlier, unread }) => [
      ...(earlier ? [earlier] : []),
      ...cells.filter(({ source }) => source === 'total'),
      ...unread,
    ]);
    for (const span of [...facts.watched, ...facts.levels, ...summed]) {
      totals.set(nameOf(facts, span), questionOf(facts, span));
    }
  }
  return readInParts(totals, (requested) => readUsage(stored, requested));
}

async function readLabels(
  stored: StoredUsage,
  all: readonly SettlementInputs[],
  read: ReadonlyMap<RatedPeriod, UsageCell[]>,
): Promise<Map<string, LabelledUsage[]>> {
  const labels = new Map<string, LabelQuestion>();
  for (const facts of all) {
    for (const cell of facts.rated.flatMap((period) => read.get(period) ?? [])) {
      const property = cell.source === 'labels' ? cell.rated?.rates?.property : undefined;
      if (property) labels.set(nameOf(facts, cell), { ...questionOf(facts, cell), property });
    }
  }
  const labelled = new Map<string, LabelledUsage[]>();
  for (const group of alike(labels)) {
    for (const [name, usage] of await readEach(group, (requested) => readLabelledUsage(stored, requested))) {
      labelled.set(name, usage);
    }
  }
  return labelled;
}

function questionOf({ customerMeter, meter }: SettlementInputs, { fromMs, toMs }: Span): UsageQuestion {
  const { environment, customerId, meterKey } = customerMeter;
  return { environment, customerId, meterKey, aggregation: meter.aggregation, span: { fromMs, toMs } };
}

function nameOf({ customerMeter }: SettlementInputs, { fromMs, toMs }: Span): string {
  return `${fromMs} ${toMs} ${customerMeter.customerId} ${customerMeter.meterKey}`;
}

async function readInParts(
  questions: ReadonlyMap<string, UsageQuestion>,
  read: (requested: UsageQuestion[]) => Promise<bigint[]>,
): Promise<Map<string, bigint>> {
  const entries = [...questions];
  const found = new Map<string, bigint>();
  for (let at = 0; at < entries.length; at += QUESTIONS_MAX) {
    const part = new Map(entries.slice(at, at + QUESTIONS_MAX));
    for (const [name, result] of await readEach(part, read)) found.set(name, result);
  }
  return found;
}

async function readEach<Question, Result>(
  questions: ReadonlyMap<string, Question>,
  read: (requested: Question[]) => Promise<Result[]>,
): Promise<Map<string, Result>> {
  const results = await read([...questions.values()]);
  const found = new Map<string, Result>();
  [...questions.keys()].forEach((name, place) => {
    const result = results[place];
    if (result !== undefined) found.set(name, result);
  });
  return found;
}

/** The questions that one statement can read: about one property with the same values, counted in one way. */
function alike(labels: ReadonlyMap<string, LabelQuestion>): Array<Map<string, LabelQuestion>> {
  const groups = new Map<string, Map<string, LabelQuestion>>();
  for (const [name, question] of labels) {
    const { aggregation, property } = question;
    const kind = JSON.stringify([aggregation, property.name, Object.keys(property.rates)]);
    groups.set(kind, (groups.get(kind) ?? new Map()).set(name, question));
  }
  return [...groups.values()];
}
