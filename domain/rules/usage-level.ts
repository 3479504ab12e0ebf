import type { Span } from '../../schemas/primitives/calendar.ts';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { limitWindow } from './limit-windows.ts';
import { largestLimit, type MeteredTerm, meteredPeriod, termAt } from './metered-terms.ts';
import type { UsageBudget } from './usage-thresholds.ts';

/** What limits the usage of a customer's meter at a time, in the window of that time. Decimal texts. */
export interface LevelTerms extends Span {
  /** The largest one, where several features use the meter. */
  limit: string | undefined;
  /** The hard threshold; the soft one without it. */
  budget: string | undefined;
  /** A limit that never resets: what was used counts after the end of the span, too. */
  isLasting: boolean;
  /** When time alone makes it another. */
  changesMs: number;
}

/**
 * None without a limit and a budget; two where the limit does not reset with the billing period, in which a
 * budget counts.
 */
export function levelTerms(
  terms: readonly MeteredTerm[],
  budgets: UsageBudget | undefined,
  nowMs: number,
): LevelTerms[] {
  const term = termAt(terms, nowMs);
  const limit = term && largestLimit(term);
  const budget = budgets?.hard ?? budgets?.soft ?? undefined;
  const ahead = terms.find(({ startsMs }) => startsMs > nowMs)?.startsMs ?? Number.POSITIVE_INFINITY;
  const period = meteredPeriod(terms, nowMs);
  const window = limit ? limitWindow(terms, limit.resets, nowMs) : period;
  const changesMs = Math.min(ahead, period.toMs, window.toMs);
  const within = (
    span: Span,
    of: Partial<Pick<LevelTerms, 'limit' | 'budget' | 'isLasting'>>,
  ): LevelTerms => {
    return { ...span, limit: undefined, budget: undefined, isLasting: false, ...of, changesMs };
  };
  if (!limit) return budget === undefined ? [] : [within(period, { budget })];
  const ofLimit = { limit: limit.amount, isLasting: limit.resets === 'never' };
  if (budget === undefined) return [within(window, ofLimit)];
  const isSame = window.fromMs === period.fromMs && window.toMs === period.toMs;
  if (isSame) return [within(period, { ...ofLimit, budget })];
  return [within(window, ofLimit), within(period, { budget })];
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
