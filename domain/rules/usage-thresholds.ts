import { decimalUnits, unitsText } from '../../schemas/primitives/decimal.ts';
import type { ThresholdKind } from '../../schemas/value-sets.ts';

/** Of one customer and meter. Decimal texts. */
export interface UsageBudget {
  soft: string | null;
  hard: string | null;
}

export interface Threshold {
  /** Canonical decimal text. */
  value: string;
  kind: ThresholdKind;
}

/**
 * What usage of a period is watched by, each value once, ascending: the budget's own, and of each limit the
 * limit (hard) and 80 % of it (soft), rounded down to the twelfth digit. What is both is hard.
 */
export function usageThresholds(budget: UsageBudget | undefined, limits: readonly string[]): Threshold[] {
  const kinds = new Map<bigint, ThresholdKind>();
  const add = (value: bigint, kind: ThresholdKind) => {
    if (kinds.get(value) !== 'hard') kinds.set(value, kind);
  };
  if (typeof budget?.soft === 'string') add(decimalUnits(budget.soft), 'soft');
  if (typeof budget?.hard === 'string') add(decimalUnits(budget.hard), 'hard');
  for (const limit of limits.map(decimalUnits)) {
    add((limit * 4n) / 5n, 'soft');
    add(limit, 'hard');
  }
  const ascending = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
  return ascending.map(([value, kind]) => ({ value: unitsText(value), kind }));
}

/** Those that usage has reached. Usage of 0 reaches none, not even a threshold of 0. */
export function reachedThresholds(thresholds: readonly Threshold[], current: string): Threshold[] {
  const used = decimalUnits(current);
  return thresholds.filter(({ value }) => used > 0n && decimalUnits(value) <= used);
}
