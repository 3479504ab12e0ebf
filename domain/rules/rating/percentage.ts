import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { type Charge, chargeable, moneyUnits } from './charge.ts';
import type { PercentagePrice } from './price.ts';

/** Events of a period by which bound holds for each. */
export interface PercentageUsage {
  /** Values of all events, in units of 10^-12. */
  total: bigint;
  /** Of the events that neither bound holds for: their values, and their number. */
  units: bigint;
  events: bigint;
  /** The number of events that cost `min`, and of those that cost `max`. */
  atMin: bigint;
  atMax: bigint;
  /** Values of corrections, which are below zero. They give back their share, and no fee. */
  corrected: bigint;
}

/** The share of each event's value and the fee for it, within the bounds. Never less than nothing. */
export function chargePercentage(price: PercentagePrice, usage: PercentageUsage): Charge {
  const { rate, fixed = '0', min = '0', max = '0' } = price;
  const shares = (usage.units + usage.corrected) * decimalUnits(rate);
  const fees = usage.events * moneyUnits(fixed);
  const amount = shares + fees + usage.atMin * moneyUnits(min) + usage.atMax * moneyUnits(max);
  return { quantity: chargeable(usage.total), amount: amount > 0n ? amount : 0n };
}
