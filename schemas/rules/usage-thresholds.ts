import { decimalUnits, unitsText } from './decimal.ts';

/** Of one customer and meter. Decimal texts. */
export interface UsageBudget {
  soft: string | null;
  hard: string | null;
}

/**
 * What usage of a period is watched by, each value once, ascending: the budget's own, and of each limit the
 * limit and 80 % of it, rounded down to the twelfth digit. Canonical decimal texts.
 */
export function usageThresholds(budget: UsageBudget | undefined, limits: readonly string[]): string[] {
  const given = [budget?.soft, budget?.hard].flatMap((value) =>
    typeof value === 'string' ? [decimalUnits(value)] : [],
  );
  const ofLimits = limits.map(decimalUnits).flatMap((limit) => [(limit * 4n) / 5n, limit]);
  const values = [...new Set([...given, ...ofLimits])].sort((a, b) => (a < b ? -1 : 1));
  return values.map(unitsText);
}

/** Those that usage has reached. Nobody who has used nothing has reached one, were it 0. */
export function reachedThresholds(thresholds: readonly string[], current: string): string[] {
  const used = decimalUnits(current);
  return thresholds.filter((value) => used > 0n && decimalUnits(value) <= used);
}
