import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { creditText } from './credit-units.ts';

/**
 * What a meter's usage costs in credits: a rate for all of it, or by the values of one property. Decimal
 * texts.
 */
export interface CreditRates {
  /** For what has no rate of its own. */
  rate: string;
  property?: { name: string; rates: Record<string, string> };
}

/** The rates of a meter from one time up to the next version's. */
export interface RateVersion {
  /** From 1 on. */
  version: number;
  startMs: number;
  /** From here on it burns credits: its start, but for rates that are older than credits. */
  burnsFromMs: number;
  /** Undefined: usage costs nothing. */
  rates: CreditRates | undefined;
}

/** An amount of usage under one version and one value of its property. */
export interface RatedUsage {
  version: number;
  label: string;
  /** Decimal text. */
  amount: string;
}

/** The label of all values that have no rate of their own. */
export const UNRATED = '';

/** The label of a value that has its own rate. */
export function labelOfValue(value: string): string {
  return `=${value}`;
}

export function rateOfLabel(label: string, { rate, property }: CreditRates): string {
  const value = label.slice(1);
  const isRated = label !== UNRATED && property && Object.hasOwn(property.rates, value);
  return (isRated ? property.rates[value] : undefined) ?? rate;
}

/** The exact sum of amount × rate as decimal text; at most 24 fraction digits, none of them lost. */
export function creditCost(usage: readonly RatedUsage[], versions: readonly RateVersion[]): string {
  const ratesOf = new Map(versions.map(({ version, rates }) => [version, rates]));
  const cost = usage.reduce((sum, { version, label, amount }) => {
    const rates = ratesOf.get(version);
    return rates ? sum + decimalUnits(amount) * decimalUnits(rateOfLabel(label, rates)) : sum;
  }, 0n);
  return creditText(cost);
}

/** Rates as a meter has them; undefined where it has none. */
export function creditRatesOf(meter: {
  creditRate: string | null;
  creditRates: { property: string; rates: Record<string, string> } | null;
}): CreditRates | undefined {
  const { creditRate, creditRates } = meter;
  if (creditRate === null && creditRates === null) return undefined;
  return {
    rate: creditRate ?? '0',
    ...(creditRates ? { property: { name: creditRates.property, rates: creditRates.rates } } : {}),
  };
}
