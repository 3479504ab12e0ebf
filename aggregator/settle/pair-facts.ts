import type { PoolClient } from 'pg';
import { findHolders } from '../../infra/find-holder.ts';
import { type RatedMeter, readRatedMeters } from '../../infra/store/meter-rates.ts';
import type { TouchedPair } from '../../schemas/frame.ts';
import { type BilledPeriod, type BilledQuestion, billedPeriods } from '../../schemas/rules/billed-periods.ts';
import { burnCells, burnStretch, type CellPeriod, type StoredBurn } from '../../schemas/rules/burn-cells.ts';
import { HOUR_MS } from '../../schemas/rules/calendar.ts';
import { creditUnits } from '../../schemas/rules/credit-units.ts';
import type { Holdings } from '../../schemas/rules/resolve-entitlements.ts';
import { type UsageBudget, usageThresholds } from '../../schemas/rules/usage-thresholds.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import { type BurnRow, readBurns } from '../store/credit-burns.ts';
import { readBudgets } from '../store/read-budgets.ts';
import { readCrossings } from '../store/usage-crossings.ts';

/** All that a pair is settled by, but for its usage. */
export interface PairFacts {
  pair: TouchedPair;
  aggregation: Aggregation;
  /** Periods with thresholds that were not crossed yet. */
  watched: WatchedPeriod[];
  /** Periods with what is to be burned in each. */
  cells: CellPeriod[];
  stored: StoredBurn[];
}

export interface WatchedPeriod {
  fromMs: number;
  toMs: number;
  /** Decimal texts, ascending. */
  thresholds: string[];
}

export interface FactsOfPairs {
  facts: PairFacts[];
  /** Pairs with the moments that are left: of more periods or hours than are settled at once. */
  rest: TouchedPair[];
}

/**
 * Hours of which a cell each is read and settled at once, in one transaction: of pairs whose rates go by a
 * property. One pair alone may have more.
 */
const HOURS_MAX = 20_000;

/** Of those pairs of which anything may follow. In a transaction that holds the settlement. */
export async function readPairFacts(
  db: PoolClient,
  pairs: readonly TouchedPair[],
  nowMs: number,
): Promise<FactsOfPairs> {
  const { held, left } = firstHours(await heldPairs(db, pairs, nowMs));
  const later = held.flatMap(({ pair, restMs }) =>
    restMs === undefined ? [] : [{ ...pair, occurredFromMs: restMs }],
  );
  const rest = [...later, ...left];
  const burns = await readStored(db, held);
  const crossed = await readCrossed(db, held);
  const facts = held.map(({ pair, meter, holdings, periods, question, isRated }): PairFacts => {
    const stored = burns.get(nameOf(pair)) ?? [];
    const burnt = { holdings, versions: meter.versions, stored };
    return {
      pair,
      aggregation: meter.aggregation,
      watched: periods.flatMap(({ fromMs, toMs, thresholds }) => {
        const known = crossed.get(nameOf(pair, fromMs));
        const left = thresholds.filter((value) => !known?.has(value));
        return left.length > 0 ? [{ fromMs, toMs, thresholds: left }] : [];
      }),
      cells: isRated ? burnCells(periods, burnt, question) : [],
      stored,
    };
  });
  return { facts: facts.filter(({ watched, cells }) => watched.length + cells.length > 0), rest };
}

/** A pair with its periods. */
interface HeldPair {
  pair: TouchedPair;
  meter: RatedMeter;
  holdings: Holdings;
  question: BilledQuestion;
  periods: Array<BilledPeriod & { thresholds: string[] }>;
  restMs: number | undefined;
  isRated: boolean;
}

async function heldPairs(db: PoolClient, pairs: readonly TouchedPair[], nowMs: number): Promise<HeldPair[]> {
  const meters = await readRatedMeters(db, {
    environments: pairs.map(({ environment }) => environment),
    meterKeys: pairs.map(({ meterKey }) => meterKey),
  });
  const meterOf = new Map(meters.map((one) => [`${one.environment} ${one.meterKey}`, one]));
  const budgets = await readBudgets(db, pairs);
  const budgetOf = new Map(budgets.map((one) => [nameOf(one), one]));
  const holdingsOf = await readHoldings(db, pairs);
  return pairs.flatMap((pair) => {
    const meter = meterOf.get(`${pair.environment} ${pair.meterKey}`);
    const holdings = holdingsOf.get(pair.customerId);
    if (!meter || !holdings) return [];
    const held = periodsOf({ pair, meter, holdings, budget: budgetOf.get(nameOf(pair)), nowMs });
    return held.isRated || held.periods.some(({ thresholds }) => thresholds.length > 0) ? [held] : [];
  });
}

interface PeriodsQuestion extends Pick<HeldPair, 'pair' | 'meter' | 'holdings'> {
  budget: UsageBudget | undefined;
  nowMs: number;
}

function periodsOf({ pair, meter, holdings, budget, nowMs }: PeriodsQuestion): HeldPair {
  const { meterKey, occurredFromMs: firstMs, occurredToMs: lastMs } = pair;
  const question = { meterKey, firstMs, lastMs, nowMs };
  const { periods, restMs } = billedPeriods(holdings, question);
  return {
    ...{ pair, meter, holdings, restMs },
    question: { ...question, lastMs: restMs === undefined ? lastMs : restMs - 1 },
    periods: periods.map((one) => ({ ...one, thresholds: usageThresholds(budget, one.limits) })),
    isRated: meter.versions.some(({ rates }) => rates !== undefined),
  };
}

/**
 * By customer. An archived customer's too: what its subscriptions gave, its usage of that time was covered
 * by.
 */
async function readHoldings(db: PoolClient, pairs: readonly TouchedPair[]): Promise<Map<string, Holdings>> {
  const found = new Map<string, Holdings>();
  for (const environment of new Set(pairs.map((pair) => pair.environment))) {
    const here = pairs.filter((pair) => pair.environment === environment);
    const holders = await findHolders(db, {
      environment,
      customerIds: [...new Set(here.map(({ customerId }) => customerId))],
      atMs: here.reduce(
        (first, { occurredFromMs }) => Math.min(first, occurredFromMs),
        Number.MAX_SAFE_INTEGER,
      ),
      featureIds: [],
      meterKeys: [...new Set(here.map(({ meterKey }) => meterKey))],
    });
    for (const [customerId, { holdings }] of holders) found.set(customerId, holdings);
  }
  return found;
}

/** The pairs that are settled now, the first of them whatever it takes, and those that are left. */
function firstHours(all: HeldPair[]): { held: HeldPair[]; left: TouchedPair[] } {
  let hours = 0;
  const end = all.findIndex((one, at) => {
    hours += hoursOf(one);
    return at > 0 && hours > HOURS_MAX;
  });
  if (end < 0) return { held: all, left: [] };
  return { held: all.slice(0, end), left: all.slice(end).map(({ pair }) => pair) };
}

function hoursOf({ meter: { versions }, periods, question }: HeldPair): number {
  if (!versions.some(({ rates }) => rates?.property)) return 0;
  const { fromMs, toMs } = burnStretch(periods, versions, question);
  return (toMs - fromMs) / HOUR_MS;
}

async function readStored(db: PoolClient, held: readonly HeldPair[]): Promise<Map<string, StoredBurn[]>> {
  const stretches = held
    .filter(({ isRated }) => isRated)
    .map(({ pair, periods, meter, question }) => {
      const { fromMs, toMs } = burnStretch(periods, meter.versions, question);
      return { ...pair, from: new Date(fromMs), to: new Date(toMs) };
    });
  const stored = new Map<string, StoredBurn[]>();
  if (stretches.length === 0) return stored;
  for (const row of await readBurns(db, stretches)) {
    const name = nameOf(row);
    const known = stored.get(name);
    if (known) known.push(storedBurn(row));
    else stored.set(name, [storedBurn(row)]);
  }
  return stored;
}

function storedBurn({ from, to, version, label, burned }: BurnRow): StoredBurn {
  return { fromMs: from.getTime(), toMs: to.getTime(), version, label, burned: creditUnits(burned) };
}

async function readCrossed(db: PoolClient, held: readonly HeldPair[]): Promise<Map<string, Set<string>>> {
  const places = held.flatMap(({ pair, periods }) =>
    periods.flatMap(({ fromMs, thresholds }) =>
      thresholds.length > 0 ? [{ ...pair, periodStart: new Date(fromMs) }] : [],
    ),
  );
  const crossed = new Map<string, Set<string>>();
  if (places.length === 0) return crossed;
  for (const row of await readCrossings(db, places)) {
    const name = nameOf(row, row.periodStart.getTime());
    crossed.set(name, (crossed.get(name) ?? new Set()).add(row.threshold));
  }
  return crossed;
}

function nameOf(pair: Pick<TouchedPair, 'environment' | 'customerId' | 'meterKey'>, periodMs = 0): string {
  return `${periodMs} ${pair.environment} ${pair.customerId} ${pair.meterKey}`;
}
