import type { PoolClient } from 'pg';
import type { CreditBurn } from '../../domain/credits/customer-burns.ts';
import { burnCredits } from '../../domain/credits/move-credits.ts';
import { type EmittedEvent, emitEverywhere } from '../../domain/emit-events.ts';
import { creditText } from '../../domain/rules/credit-units.ts';
import type { SettledUsage } from '../../domain/rules/usage-cells.ts';
import { reachedThresholds } from '../../domain/rules/usage-thresholds.ts';
import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { unitsText } from '../../schemas/primitives/decimal.ts';
import { exactNumber } from '../../schemas/primitives/exact-json.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import type { ThresholdKind } from '../../schemas/value-sets.ts';
import { type BurnRow, removeBurns, writeBurns } from '../store/credit-burns.ts';
import { type Crossing, insertCrossings, removeCrossings } from '../store/usage-crossings.ts';
import { boundedWarehouse } from './bounded-warehouse.ts';
import { costChanges } from './cost-changes.ts';
import { type CustomerMeterUsage, readCustomerMeterUsage } from './customer-meter-usage.ts';
import { readSettlementInputs, type SettlementInputs, type SettlingTime } from './settlement-inputs.ts';
import { endLevels, keepLevels } from './usage-levels.ts';

/** What came of a settlement. */
export interface Settled {
  /** Those of which anything may follow. */
  watched: TouchedCustomerMeter[];
  /** What is left of customer meters with more periods or hours than are settled at once. */
  rest: TouchedCustomerMeter[];
  crossings: number;
}

/** Of all statements together: the transaction waits, and its lock with it. */
const READING_MS = 30_000;

/**
 * Moves the credits by which the cost of usage of these customer meters differs from the last settlement, and
 * emits the thresholds that it has crossed. The result depends only on the usage and the terms that held at
 * its time, and not on later changes: repeated, and in any order, it is the same.
 */
export async function settleCustomerMeters(
  db: PoolClient,
  { warehouse, nowMs, keptFromMs }: { warehouse: Warehouse } & SettlingTime,
  customerMeters: readonly TouchedCustomerMeter[],
): Promise<Settled> {
  const inputs = await readSettlementInputs(db, customerMeters, { nowMs, keptFromMs });
  const { facts: all, rest } = inputs;
  await endLevels(db, inputs.without);
  if (all.length === 0) return { watched: [], rest, crossings: 0 };
  // After taking the lock: what is read is never older than what the lock's previous owner has settled.
  const stores = { db, warehouse: boundedWarehouse(warehouse, READING_MS) };
  const usage = await readCustomerMeterUsage(stores, all);
  const { facts } = usage;
  const left = all.slice(facts.length).map(({ customerMeter }) => customerMeter);
  await moveCosts(db, { usage, nowMs });
  // mutant: fallen-threshold-never-crossed-again
  await removeCrossings(db, fallenBelow(usage));
  const crossings = await emitCrossings(db, { usage, nowMs });
  await keepLevels(db, { usage, nowMs });
  return {
    watched: facts.filter(mayFollow).map(({ customerMeter }) => customerMeter),
    rest: [...withoutThose(rest, left), ...left],
    crossings,
  };
}

/** Without new usage: a level is settled again when time changes it (usage-levels.ts). */
function mayFollow({ watched, rated }: SettlementInputs): boolean {
  return watched.length + rated.length > 0;
}

/** A customer meter that is left completely is not left in parts as well. */
function withoutThose(
  rest: readonly TouchedCustomerMeter[],
  left: readonly TouchedCustomerMeter[],
): TouchedCustomerMeter[] {
  const isLeft = (one: TouchedCustomerMeter) =>
    left.some(
      ({ environment, customerId, meterKey }) =>
        environment === one.environment && customerId === one.customerId && meterKey === one.meterKey,
    );
  return rest.filter((one) => !isLeft(one));
}

interface Reading {
  usage: CustomerMeterUsage;
  nowMs: number;
}

async function moveCosts(db: PoolClient, { usage, nowMs }: Reading): Promise<void> {
  const changes = costChanges(usage);
  const removed = changes.flatMap((one) => one.removed.map((row) => burnRow(one.customerMeter, row)));
  const written = changes.flatMap((one) => one.written.map((row) => burnRow(one.customerMeter, row)));
  // mutant: correction-gives-nothing-back
  const burns = changes.flatMap(({ customerMeter, periodStartMs, before, cost }): CreditBurn[] =>
    cost === before
      ? []
      : [
          {
            ...placeOf(customerMeter),
            periodStart: new Date(periodStartMs),
            amount: creditText(cost - before),
          },
        ],
  );
  if (removed.length > 0) await removeBurns(db, removed);
  if (written.length > 0) await writeBurns(db, written);
  if (burns.length > 0) await burnCredits(db, { nowMs, burns });
}

function burnRow(
  customerMeter: TouchedCustomerMeter,
  { fromMs, toMs, version, label, used, burned }: SettledUsage,
): BurnRow {
  return {
    ...placeOf(customerMeter),
    from: new Date(fromMs),
    to: new Date(toMs),
    version,
    label,
    used: used === undefined ? null : unitsText(used),
    burned: creditText(burned),
  };
}

function placeOf({ environment, customerId, meterKey }: TouchedCustomerMeter) {
  return { environment, customerId, meterKey };
}

/** Crossed thresholds that usage is below by now, in each window that begins with the period. */
function fallenBelow(usage: CustomerMeterUsage): Crossing[] {
  const crossed = new Map<string, { crossing: Crossing; isReached: boolean }>();
  for (const facts of usage.facts) {
    for (const period of facts.watched) {
      const reached = new Set(reachedThresholds(period.crossed, unitsText(usage.total(facts, period))));
      for (const threshold of period.crossed) {
        const periodStart = new Date(period.fromMs);
        const crossing = { ...placeOf(facts.customerMeter), periodStart, threshold: threshold.value };
        const name = nameOfCrossing(crossing);
        const isReached = crossed.get(name)?.isReached || reached.has(threshold);
        crossed.set(name, { crossing, isReached });
      }
    }
  }
  return [...crossed.values()].flatMap(({ crossing, isReached }) => (isReached ? [] : [crossing]));
}

function nameOfCrossing({ environment, customerId, meterKey, periodStart, threshold }: Crossing): string {
  return [environment, customerId, meterKey, periodStart.getTime(), threshold].join(' ');
}

/** In the transaction of the rows that prevent a second event for each. */
async function emitCrossings(db: PoolClient, { usage, nowMs }: Reading): Promise<number> {
  const reached = usage.facts.flatMap((facts) =>
    facts.watched.flatMap((period): Reached[] => {
      const current = unitsText(usage.total(facts, period));
      const periodStart = new Date(period.fromMs);
      return reachedThresholds(period.thresholds, current).map(({ value: threshold, kind }) => {
        return { ...placeOf(facts.customerMeter), periodStart, threshold, kind, current };
      });
    }),
  );
  // mutant: threshold-without-its-unique-row
  const fresh = await insertCrossings(db, eachOnce(reached), new Date(nowMs));
  await emitEverywhere(db, nowMs, fresh.map(crossingEvent));
  return fresh.length;
}

/** Windows that begin together may have a threshold in common: then it is crossed once, in the longest. */
function eachOnce(reached: readonly Reached[]): Reached[] {
  const byPlace = new Map<string, Reached>();
  for (const one of reached) byPlace.set(nameOfCrossing(one), one);
  return [...byPlace.values()];
}

interface Reached extends Crossing {
  kind: ThresholdKind;
  /** Decimal text. */
  current: string;
}

function crossingEvent(reached: Reached): EmittedEvent & { environment: string } {
  const { environment, customerId, meterKey, threshold, kind, current } = reached;
  const data = {
    customerId,
    meterId: meterKey,
    thresholdValue: exactNumber(threshold),
    kind,
    currentUsage: exactNumber(current),
  };
  return { environment, type: 'usage.threshold', objectId: customerId, data };
}
