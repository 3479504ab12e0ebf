import { type Charge, moneyUnits, ONE } from './charge.ts';
import type { FlatPrice } from './price.ts';

/** Charged in full as soon as the period begins. */
export function chargeFlat({ amount }: FlatPrice): Charge {
  return { quantity: ONE, amount: moneyUnits(amount) };
}
