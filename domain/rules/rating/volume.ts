import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { type Charge, chargeable, moneyUnits } from './charge.ts';
import type { TieredPrice } from './price.ts';

/**
 * The tier that the quantity reaches charges all of it. A unit more can cost less in total: where the next
 * tier begins.
 */
export function chargeVolume({ tiers }: TieredPrice, units: bigint): Charge {
  const quantity = chargeable(units);
  const reached = tiers.findIndex(({ upTo }) => upTo === null || quantity <= decimalUnits(upTo));
  const charged = tiers.map(({ unitAmount, flatAmount = '0' }, at) => {
    if (at !== reached) return { quantity: 0n, amount: 0n };
    return { quantity, amount: quantity * decimalUnits(unitAmount) + moneyUnits(flatAmount) };
  });
  return { quantity, amount: charged.reduce((sum, { amount }) => sum + amount, 0n), tiers: charged };
}
