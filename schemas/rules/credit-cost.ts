import { decimalUnits } from './decimal.ts';

/**
 * What a meter's usage costs in credits: a rate for all of it, or by the values of one property. Decimal
 * texts.
 */
export interface CreditRates {
  /** For what has no rate of its own. */
  rate: string;
  property?: { name: string; rates: Record<string, string> };
}

/**
 * An amount of usage under one value of the rates' property; any value without a rate of its own may stand as
 * ''.
 */
export interface RatedUsage {
  label: string;
  amount: string;
}

/** The exact sum of amount × rate as decimal text; at most 24 fraction digits, none of them lost. */
export function creditCost(usage: readonly RatedUsage[], rates: CreditRates): string {
  const cost = usage.reduce((sum, { label, amount }) => {
    return sum + decimalUnits(amount) * decimalUnits(rateOf(label, rates));
  }, 0n);
  return productText(cost);
}

const PRODUCT_DIGITS = 24;

function rateOf(label: string, { rate, property }: CreditRates): string {
  const own = property && Object.hasOwn(property.rates, label) ? property.rates[label] : undefined;
  return own ?? rate;
}

/** Canonical text of units of 10^-24. */
function productText(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(PRODUCT_DIGITS + 1, '0');
  const fraction = digits.slice(-PRODUCT_DIGITS).replace(/0+$/, '');
  const text = `${digits.slice(0, -PRODUCT_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
  return units < 0n ? `-${text}` : text;
}
