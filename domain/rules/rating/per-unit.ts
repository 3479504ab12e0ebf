import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { smaller } from '../credit-units.ts';
import { type Charge, chargeable } from './charge.ts';
import type { PerUnitPrice } from './price.ts';

/** Usage under one value of the price's property, in units of 10^-12. */
export interface UsageOfValue {
  /** Undefined: events without the property, and all usage where the price has none. */
  value: string | undefined;
  units: bigint;
}

/**
 * Units beyond `included`, each at the amount of its value. What is included are the dearest units. A value
 * that was corrected below zero gives back at its own amount; all together never less than nothing.
 */
export function chargePerUnit(price: PerUnitPrice, usage: readonly UsageOfValue[]): Charge {
  const used = usage.map(({ value, units }) => ({ units, unitAmount: unitAmountOf(price, value) }));
  const total = used.reduce((sum, { units }) => sum + units, 0n);
  let included = decimalUnits(price.included ?? '0');
  let amount = 0n;
  for (const { units, unitAmount } of used.toSorted((a, b) => (a.unitAmount < b.unitAmount ? 1 : -1))) {
    const free = units > 0n ? smaller(units, included) : 0n;
    included -= free;
    amount += (units - free) * unitAmount;
  }
  return { quantity: chargeable(total, price.included), amount: amount > 0n ? amount : 0n };
}

function unitAmountOf({ unitAmount, unitAmounts }: PerUnitPrice, value: string | undefined): bigint {
  const { amounts = {} } = unitAmounts ?? {};
  const own = value !== undefined && Object.hasOwn(amounts, value) ? amounts[value] : undefined;
  return decimalUnits(own ?? unitAmount);
}
