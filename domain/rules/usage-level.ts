import type { Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { allowanceOf, type MeteredTerm, meteredPeriod, termAt } from './metered-terms.ts';
import type { UsageBudget } from './usage-thresholds.ts';

/** What limits the usage of a customer's meter at a time, in the period of that time. Decimal texts. */
export interface LevelTerms extends Span {
  /** The largest one, where several features use the meter. */
  limit: string | undefined;
  /** The hard threshold; the soft one without it. */
  budget: string | undefined;
  /** When time alone makes it another. */
  changesMs: number;
}

/** Undefined: there is neither a limit nor a budget. */
export function levelTerms(
  terms: readonly MeteredTerm[],
  budgets: UsageBudget | undefined,
  nowMs: number,
): LevelTerms | undefined {
  const term = termAt(terms, nowMs);
  const limit = (term && allowanceOf(term)) ?? undefined;
  const budget = budgets?.hard ?? budgets?.soft ?? undefined;
  if (limit === undefined && budget === undefined) return undefined;
  const period = meteredPeriod(terms, nowMs);
  const ahead = terms.find(({ startsMs }) => startsMs > nowMs)?.startsMs ?? period.toMs;
  return { ...period, limit, budget, changesMs: Math.min(period.toMs, ahead) };
}

const DIGITS = 6;

/**
 * The larger one of the shares of limit and budget: decimal text of six fraction digits, rounded down, so
 * that 1 is reached with the limit and not before. Of a limit of 0 everything is used once something is.
 */
export function shareUsed(current: bigint, { limit, budget }: Pick<LevelTerms, 'limit' | 'budget'>): string {
  const shares = [limit, budget].flatMap((text) => (text === undefined ? [] : [millionths(current, text)]));
  const [largest = 0n] = shares.sort((a, b) => (a > b ? -1 : 1));
  const digits = largest.toString().padStart(DIGITS + 1, '0');
  return `${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}

function millionths(current: bigint, allowance: string): bigint {
  const one = 10n ** BigInt(DIGITS);
  const allowed = decimalUnits(allowance);
  if (current <= 0n) return 0n;
  return allowed <= 0n ? one : (current * one) / allowed;
}
