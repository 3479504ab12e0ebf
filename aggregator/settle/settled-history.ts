import type { PoolClient } from 'pg';
import type { BilledQuestion } from '../../domain/rules/billed-periods.ts';
import { creditUnits } from '../../domain/rules/credit-units.ts';
import { hasLastingLimit } from '../../domain/rules/limit-windows.ts';
import type { MeteredTerm } from '../../domain/rules/metered-terms.ts';
import { hullOf, type SettledPeriods, settledPeriods } from '../../domain/rules/settled-periods.ts';
import type { SettledUsage } from '../../domain/rules/usage-cells.ts';
import { readMeteredTerms } from '../../domain/store/metered-terms.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import { type BurnRow, readBurns } from '../store/credit-burns.ts';

/** The periods of a customer meter that are settled, and how they were settled before. */
export interface SettledHistory extends SettledPeriods {
  stored: SettledUsage[];
  /** Of these periods, and of now and later. */
  terms: MeteredTerm[];
}

/** A row extends beyond what was read at most once for each time that its period was recorded again. */
const ROUNDS_MAX = 8;

interface Reading {
  customerMeter: TouchedCustomerMeter;
  terms: MeteredTerm[];
  stored: SettledUsage[];
  hull: Span;
}

/**
 * One history per customer meter, in their order. A stored row that extends beyond the periods that were read
 * adds the adjacent periods, whose terms and rows are then read as well.
 */
export async function readHistories(
  db: PoolClient,
  customerMeters: readonly TouchedCustomerMeter[],
  nowMs: number,
): Promise<SettledHistory[]> {
  const readings = customerMeters.map((customerMeter): Reading => {
    const hull = { fromMs: customerMeter.occurredFromMs, toMs: customerMeter.occurredToMs + 1 };
    return { customerMeter, terms: [], stored: [], hull };
  });
  let open = readings;
  for (let round = 0; open.length > 0 && round < ROUNDS_MAX; round += 1) {
    await readTerms(db, open, nowMs);
    for (const one of open) one.hull = hullOf(periodsOf(one, nowMs).periods);
    await readStored(db, open);
    open = open.filter((one) => {
      const hull = hullOf(periodsOf(one, nowMs).periods);
      const isWider = hull.fromMs < one.hull.fromMs || hull.toMs > one.hull.toMs;
      one.hull = hull;
      return isWider;
    });
  }
  return readings.map((one) => ({
    ...periodsOf(one, nowMs),
    stored: one.stored,
    terms: one.terms,
  }));
}

function periodsOf({ customerMeter, terms, stored }: Reading, nowMs: number): SettledPeriods {
  const { occurredFromMs: firstMs, occurredToMs } = customerMeter;
  // Earlier usage counts in all later periods against a limit that never resets.
  const lastMs = hasLastingLimit(terms, firstMs) ? Math.max(occurredToMs, nowMs) : occurredToMs;
  const question: BilledQuestion = { firstMs, lastMs, nowMs };
  return settledPeriods(terms, question, stored);
}

async function readTerms(db: PoolClient, readings: readonly Reading[], nowMs: number): Promise<void> {
  const requested = readings.map(({ customerMeter, hull }) => ({
    ...customerMeter,
    from: new Date(Math.min(customerMeter.occurredFromMs, hull.fromMs, nowMs)),
  }));
  const terms = byName(await readMeteredTerms(db, requested));
  for (const one of readings) one.terms = terms.get(nameOf(one.customerMeter)) ?? [];
}

async function readStored(db: PoolClient, readings: readonly Reading[]): Promise<void> {
  const requested = readings.map(({ customerMeter, hull }) => ({
    ...customerMeter,
    from: new Date(hull.fromMs),
    to: new Date(hull.toMs),
  }));
  const rows = byName(await readBurns(db, requested));
  for (const one of readings) one.stored = (rows.get(nameOf(one.customerMeter)) ?? []).map(settledUsage);
}

function settledUsage({ from, to, version, label, used, burned }: BurnRow): SettledUsage {
  return {
    fromMs: from.getTime(),
    toMs: to.getTime(),
    version,
    label,
    used: used === null ? undefined : decimalUnits(used),
    burned: creditUnits(burned),
  };
}

type Named = Pick<TouchedCustomerMeter, 'environment' | 'customerId' | 'meterKey'>;

export function nameOf({ environment, customerId, meterKey }: Named, periodMs = 0): string {
  return `${periodMs} ${environment} ${customerId} ${meterKey}`;
}

function byName<One extends Named>(all: readonly One[]): Map<string, One[]> {
  const lists = new Map<string, One[]>();
  for (const one of all) {
    const list = lists.get(nameOf(one));
    if (list) list.push(one);
    else lists.set(nameOf(one), [one]);
  }
  return lists;
}
