import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { smaller } from '../credit-units.ts';
import { type Charge, type ChargedTier, chargeable, moneyUnits } from './charge.ts';
import type { TieredPrice } from './price.ts';

/** Each tier charges the units between the end of the one before it and its own. */
export function chargeGraduated({ tiers }: TieredPrice, units: bigint): Charge {
  const quantity = chargeable(units);
  let begin = 0n;
  const charged = tiers.map(({ upTo, unitAmount, flatAmount = '0' }, at): ChargedTier => {
    const end = upTo === null ? quantity : smaller(decimalUnits(upTo), quantity);
    const own = end > begin ? end - begin : 0n;
    begin += own;
    const flat = at === 0 || own > 0n ? moneyUnits(flatAmount) : 0n;
    return { quantity: own, amount: own * decimalUnits(unitAmount) + flat };
  });
  return { quantity, amount: charged.reduce((sum, { amount }) => sum + amount, 0n), tiers: charged };
}
