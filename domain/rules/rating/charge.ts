import { decimalUnits } from '../../../schemas/primitives/decimal.ts';

/**
 * What a price charges for what was used from the beginning of one of its periods on, exact and before
 * `minimum`, `maximum` and rounding. Quantities are in units of 10^-12, money in units of 10^-24.
 */
export interface Charge {
  /** What is charged: units, packages, seats, or once. */
  quantity: bigint;
  amount: bigint;
  /** In the order of the price's tiers; their amounts add up to `amount`. */
  tiers?: ChargedTier[];
}

export interface ChargedTier {
  quantity: bigint;
  amount: bigint;
}

export const ONE = 10n ** 12n;

/** A decimal amount of money in units of 10^-24. */
export function moneyUnits(text: string): bigint {
  return decimalUnits(text) * ONE;
}

/** What is charged of a quantity; corrections can make it negative, and then nothing is. */
export function chargeable(quantity: bigint, included = '0'): bigint {
  const beyond = quantity - decimalUnits(included);
  return beyond > 0n ? beyond : 0n;
}
