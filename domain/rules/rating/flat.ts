import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { type Charge, chargeable } from './charge.ts';
import type { FlatPrice } from './price.ts';

/** Charged in full as soon as the period begins, for each unit of an add-on's quantity; a plan is one. */
export function chargeFlat({ amount }: FlatPrice, units: bigint): Charge {
  const quantity = chargeable(units);
  return { quantity, amount: quantity * decimalUnits(amount) };
}
