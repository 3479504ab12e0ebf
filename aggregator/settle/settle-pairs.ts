import type { PoolClient } from 'pg';
import { burnCredits, type CreditBurn } from '../../infra/credits/move-credits.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { type ToldEvent, tellEverywhere } from '../../infra/tell-events.ts';
import type { TouchedPair } from '../../schemas/frame.ts';
import type { CellPeriod, StoredBurn } from '../../schemas/rules/burn-cells.ts';
import { type DueCell, duesOf, settleBurns } from '../../schemas/rules/burn-dues.ts';
import { creditText } from '../../schemas/rules/credit-units.ts';
import { unitsText } from '../../schemas/rules/decimal.ts';
import { exactNumber } from '../../schemas/rules/exact-json.ts';
import { reachedThresholds } from '../../schemas/rules/usage-thresholds.ts';
import { type BurnRow, removeBurns, writeBurns } from '../store/credit-burns.ts';
import { type Crossing, insertCrossings } from '../store/usage-crossings.ts';
import { boundedWarehouse } from './bounded-warehouse.ts';
import { type PairFacts, readPairFacts } from './pair-facts.ts';
import { type PairUsage, readPairUsage } from './pair-usage.ts';

/** What came of a settlement. */
export interface Settled {
  /** Those of which anything may follow. */
  watched: TouchedPair[];
  /** What is left of pairs with more periods or hours than are settled at once. */
  rest: TouchedPair[];
  crossings: number;
}

/** Of all statements together: the transaction waits, and its lock with it. */
const READING_MS = 30_000;

/**
 * Burns what usage of these pairs costs by now and was not burned before, and tells which thresholds it has
 * crossed. Everything goes by how things stand and not by what has changed: it may be done again, and in any
 * order, and comes to the same.
 */
export async function settlePairs(
  db: PoolClient,
  { warehouse, nowMs }: { warehouse: Warehouse; nowMs: number },
  pairs: readonly TouchedPair[],
): Promise<Settled> {
  const { facts, rest } = await readPairFacts(db, pairs, nowMs);
  if (facts.length === 0) return { watched: [], rest, crossings: 0 };
  // Behind the lock: what is read is never older than what whoever held it before has settled.
  const usage = await readPairUsage(boundedWarehouse(warehouse, READING_MS), facts);
  await burn(db, facts, { usage, nowMs });
  const crossings = await tellCrossings(db, facts, { usage, nowMs });
  return { watched: facts.map(({ pair }) => pair), rest, crossings };
}

interface Reading {
  usage: PairUsage;
  nowMs: number;
}

async function burn(db: PoolClient, all: readonly PairFacts[], { usage, nowMs }: Reading): Promise<void> {
  const removed: BurnRow[] = [];
  const written: BurnRow[] = [];
  const burns: CreditBurn[] = [];
  for (const facts of all) {
    const periods = facts.cells.map((period) => ({ period, cells: dueCells(facts, period, usage) }));
    const settlement = settleBurns(
      periods.flatMap(({ cells }) => cells),
      facts.stored,
    );
    removed.push(...settlement.removed.map((span) => burnRow(facts, { ...span, label: '', burned: 0n })));
    written.push(...settlement.written.map((row) => burnRow(facts, row)));
    for (const { cell, credits } of settlement.owed) {
      const { fromMs = cell.fromMs } =
        periods.find(({ cells }) => cells.includes(cell as DueCell))?.period ?? {};
      burns.push({ ...placeOf(facts), periodStart: new Date(fromMs), amount: creditText(credits) });
    }
  }
  if (removed.length > 0) await removeBurns(db, removed);
  if (written.length > 0) await writeBurns(db, written);
  if (burns.length > 0) await burnCredits(db, { nowMs, burns });
}

/** The cells of a period that are due, with what their usage costs. */
function dueCells(facts: PairFacts, { cells }: CellPeriod, usage: PairUsage): DueCell[] {
  let before = 0n;
  return cells.flatMap((cell) => {
    const used = cell.isDue ? usage.labelled(facts, cell) : [];
    const dues = duesOf(cell, before, used);
    before += cell.isDue ? used.reduce((sum, { units }) => sum + units, 0n) : usage.total(facts, cell);
    return cell.isDue ? [{ ...cell, dues }] : [];
  });
}

function burnRow(facts: PairFacts, { fromMs, toMs, version, label, burned }: StoredBurn): BurnRow {
  const span = { from: new Date(fromMs), to: new Date(toMs) };
  return { ...placeOf(facts), ...span, version, label, burned: creditText(burned) };
}

function placeOf({ pair: { environment, customerId, meterKey } }: PairFacts) {
  return { environment, customerId, meterKey };
}

/** In the transaction of the rows that keep each from being told again. */
async function tellCrossings(
  db: PoolClient,
  all: readonly PairFacts[],
  { usage, nowMs }: Reading,
): Promise<number> {
  const reached = all.flatMap((facts) =>
    facts.watched.flatMap((period): Reached[] => {
      const current = unitsText(usage.total(facts, period));
      const periodStart = new Date(period.fromMs);
      return reachedThresholds(period.thresholds, current).map((threshold) => {
        return { ...placeOf(facts), periodStart, threshold, current };
      });
    }),
  );
  const fresh = await insertCrossings(db, reached, new Date(nowMs));
  await tellEverywhere(db, nowMs, fresh.map(crossingEvent));
  return fresh.length;
}

interface Reached extends Crossing {
  /** Decimal text. */
  current: string;
}

function crossingEvent(reached: Reached): ToldEvent & { environment: string } {
  const { environment, customerId, meterKey, threshold, current } = reached;
  const data = {
    customerId,
    meterId: meterKey,
    thresholdValue: exactNumber(threshold),
    currentUsage: exactNumber(current),
  };
  return { environment, type: 'usage.threshold', objectId: customerId, data };
}
