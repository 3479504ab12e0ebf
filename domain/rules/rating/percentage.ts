import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { larger, smaller } from '../credit-units.ts';
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

/** Beyond every value of an event, in units of 10^-12. */
const VALUES_END = 10n ** 30n;

/**
 * The values, in units of 10^-12, for which neither bound holds: an event below `from` costs `min`, one
 * beyond `to` costs `max`.
 */
export function unboundedValues(price: PercentagePrice): { from: bigint; to: bigint } {
  const { rate, fixed = '0', min = '0', max } = price;
  const [share, fee] = [decimalUnits(rate), moneyUnits(fixed)];
  const [short, room] = [moneyUnits(min) - fee, max === undefined ? undefined : moneyUnits(max) - fee];
  if (share === 0n) {
    return { from: short > 0n ? VALUES_END : 0n, to: room !== undefined && room < 0n ? -1n : VALUES_END };
  }
  const from = short > 0n ? (short + share - 1n) / share : 0n;
  const to = room === undefined ? VALUES_END : room < 0n ? -1n : room / share;
  return { from: smaller(from, VALUES_END), to: smaller(to, VALUES_END) };
}

/** Whether the sum of the values is enough to charge them. */
export function isShareAlone({ fixed = '0', min = '0', max }: PercentagePrice): boolean {
  return max === undefined && larger(decimalUnits(fixed), decimalUnits(min)) === 0n;
}
