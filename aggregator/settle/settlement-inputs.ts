import type { PoolClient } from 'pg';
import type { LimitedWindow } from '../../domain/rules/billed-periods.ts';
import { type CellPeriod, cellsOf, meet, type SettledUsage } from '../../domain/rules/usage-cells.ts';
import { type LevelTerms, levelTerms } from '../../domain/rules/usage-level.ts';
import { type Threshold, type UsageBudget, usageThresholds } from '../../domain/rules/usage-thresholds.ts';
import { type RatedMeter, readRatedMeters } from '../../domain/store/meter-rates.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import { type BudgetRow, readBudgets } from '../store/read-budgets.ts';
import { readCrossings } from '../store/usage-crossings.ts';
import { nameOf, readHistories, type SettledHistory } from './settled-history.ts';
import type { ToSettle } from './touched-customer-meters.ts';

/** All that a customer's usage of a meter is settled by, but for the usage. */
export interface SettlementInputs {
  customerMeter: ToSettle;
  meter: RatedMeter;
  /** Periods with thresholds that were not crossed yet, or may have to be crossed again. */
  watched: WatchedPeriod[];
  /** Periods whose usage may cost something. */
  rated: RatedPeriod[];
  /** What the usage of the running period is compared with; undefined without a limit and a budget. */
  levels: LevelTerms[];
}

export interface WatchedPeriod {
  fromMs: number;
  toMs: number;
  /** Not crossed yet. Ascending. */
  thresholds: Threshold[];
  /** Crossed, where usage may have fallen. */
  crossed: Threshold[];
}

/** A period with what it was settled as. */
export interface RatedPeriod extends CellPeriod {
  stored: SettledUsage[];
  /** Its cells where the hours of these spans are read as well. */
  withHoursOf(spans: readonly Touched[]): CellPeriod;
}

interface Touched {
  firstMs: number;
  lastMs: number;
}

export interface SettlingTime {
  nowMs: number;
  /** A period that began before is as it was settled: not all of its usage is kept. 0: all is. */
  keptFromMs: number;
}

export interface InputsOfCustomerMeters {
  facts: SettlementInputs[];
  /** Customer meters with the times that are left, where they have more periods than are settled at once. */
  rest: TouchedCustomerMeter[];
  /** Those of which nothing follows. */
  without: TouchedCustomerMeter[];
}

/** Of the customer meters that may have an effect. In a transaction that holds the settlement lock. */
export async function readSettlementInputs(
  db: PoolClient,
  customerMeters: readonly ToSettle[],
  { nowMs, keptFromMs }: SettlingTime,
): Promise<InputsOfCustomerMeters> {
  const meters = await readMeters(db, customerMeters);
  const known = customerMeters.filter((customerMeter) => meters.has(meterName(customerMeter)));
  const histories = await readHistories(db, known, nowMs);
  const budgets = new Map((await readBudgets(db, known)).map((one) => [nameOf(one), one]));
  const watched = await readWatched(db, known, { histories, budgets });
  const facts: SettlementInputs[] = [];
  const rest: TouchedCustomerMeter[] = [];
  const without: TouchedCustomerMeter[] = [];
  known.forEach((customerMeter, at) => {
    const [meter, history] = [meters.get(meterName(customerMeter)), histories[at]];
    if (!meter || !history) return;
    const rated = ratedPeriods(meter, history, touchedOf(customerMeter, history)).filter(
      ({ fromMs, earlier }) => (earlier?.fromMs ?? fromMs) >= keptFromMs,
    );
    const fresh = watched[at] ?? [];
    const levels = levelTerms(history.terms, budgets.get(nameOf(customerMeter)), nowMs);
    const isSettled = fresh.length + rated.length + levels.length > 0;
    if (isSettled) facts.push({ customerMeter, meter, watched: fresh, rated, levels });
    else without.push(customerMeter);
    const { restMs } = history;
    if (restMs === undefined) return;
    const occurredToMs = Math.max(customerMeter.occurredToMs, restMs);
    rest.push({ ...customerMeter, occurredFromMs: restMs, occurredToMs });
  });
  return { facts, rest, without };
}

async function readMeters(
  db: PoolClient,
  customerMeters: readonly TouchedCustomerMeter[],
): Promise<Map<string, RatedMeter>> {
  const meters = await readRatedMeters(db, {
    environments: customerMeters.map(({ environment }) => environment),
    meterKeys: customerMeters.map(({ meterKey }) => meterKey),
  });
  return new Map(meters.map((meter) => [meterName(meter), meter]));
}

function meterName({
  environment,
  meterKey,
}: Pick<TouchedCustomerMeter, 'environment' | 'meterKey'>): string {
  return `${environment} ${meterKey}`;
}

function touchedOf(
  { occurredFromMs, occurredToMs }: TouchedCustomerMeter,
  { restMs }: SettledHistory,
): Touched {
  return { firstMs: occurredFromMs, lastMs: restMs === undefined ? occurredToMs : restMs - 1 };
}

function ratedPeriods(
  { versions }: RatedMeter,
  { periods, stored: rows }: SettledHistory,
  touched: Touched,
): RatedPeriod[] {
  if (!versions.some(({ rates }) => rates !== undefined)) return [];
  return periods.map((period) => {
    const near = rows.filter((row) => meet(row, period));
    const withHoursOf = (spans: readonly Touched[]) =>
      cellsOf(period, { versions, stored: near }, [touched, ...spans]);
    const stored = near.filter(({ fromMs }) => fromMs >= period.fromMs);
    return { ...withHoursOf([]), stored, withHoursOf };
  });
}

/** The uncrossed thresholds of the touched periods, in the order of the customer meters. */
async function readWatched(
  db: PoolClient,
  customerMeters: readonly ToSettle[],
  { histories, budgets }: { histories: readonly SettledHistory[]; budgets: ReadonlyMap<string, BudgetRow> },
): Promise<WatchedPeriod[][]> {
  const watched = customerMeters.map((customerMeter, at) => {
    const history = histories[at];
    if (!history) return [];
    return watchedPeriods(history, {
      touched: touchedOf(customerMeter, history),
      budget: budgets.get(nameOf(customerMeter)),
    });
  });
  const crossed = await readCrossed(db, customerMeters, watched);
  return watched.map((periods, at) =>
    periods.flatMap(({ thresholds, ...period }) => {
      const customerMeter = customerMeters[at] as ToSettle;
      const known = crossed.get(nameOf(customerMeter, period.fromMs));
      const left = thresholds.filter(({ value }) => !known?.has(value));
      const done = customerMeter.rearms ? thresholds.filter(({ value }) => known?.has(value)) : [];
      return left.length + done.length > 0 ? [{ ...period, thresholds: left, crossed: done }] : [];
    }),
  );
}

/** A budget watches billing periods, a limit its own windows: those that were touched, each once. */
function watchedPeriods(
  { periods }: SettledHistory,
  { touched, budget }: { touched: Touched; budget: UsageBudget | undefined },
): WatchedPeriod[] {
  const spans = new Map<string, LimitedWindow & { budget?: UsageBudget | undefined }>();
  const watch = ({ fromMs, toMs, limits, ...more }: LimitedWindow & { budget?: UsageBudget | undefined }) => {
    const name = `${fromMs} ${toMs}`;
    const known = spans.get(name);
    spans.set(name, { fromMs, toMs, ...known, ...more, limits: [...(known?.limits ?? []), ...limits] });
  };
  for (const { billing, windows } of periods) {
    windows.forEach(watch);
    watch({ ...billing, limits: [], budget });
  }
  return [...spans.values()].flatMap(({ fromMs, toMs, limits, budget: own }): WatchedPeriod[] => {
    if (fromMs > touched.lastMs || toMs <= touched.firstMs) return [];
    const thresholds = usageThresholds(own, limits);
    return thresholds.length > 0 ? [{ fromMs, toMs, thresholds, crossed: [] }] : [];
  });
}

async function readCrossed(
  db: PoolClient,
  customerMeters: readonly TouchedCustomerMeter[],
  watched: readonly WatchedPeriod[][],
): Promise<Map<string, Set<string>>> {
  const places = customerMeters.flatMap((customerMeter, at) =>
    (watched[at] ?? []).map(({ fromMs }) => ({ ...customerMeter, periodStart: new Date(fromMs) })),
  );
  const crossed = new Map<string, Set<string>>();
  if (places.length === 0) return crossed;
  for (const row of await readCrossings(db, places)) {
    const name = nameOf(row, row.periodStart.getTime());
    crossed.set(name, (crossed.get(name) ?? new Set()).add(row.threshold));
  }
  return crossed;
}
