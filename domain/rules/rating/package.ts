import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { type Charge, chargeable, moneyUnits, ONE } from './charge.ts';
import type { PackagePrice } from './price.ts';

/** Packages that the units beyond `included` have begun. */
export function chargePackages({ size, amount, included }: PackagePrice, units: bigint): Charge {
  const unitsOfOne = decimalUnits(size);
  const packages = (chargeable(units, included) + unitsOfOne - 1n) / unitsOfOne;
  return { quantity: packages * ONE, amount: packages * moneyUnits(amount) };
}
