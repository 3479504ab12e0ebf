import { larger, smaller } from '../credit-units.ts';
import { type Charge, type ChargedTier, moneyUnits } from './charge.ts';
import { chargeFlat } from './flat.ts';
import { chargeGraduated } from './graduated.ts';
import { roundToMinorUnit } from './money.ts';
import { chargePackages } from './package.ts';
import { chargePerUnit, type UsageOfValue } from './per-unit.ts';
import { chargePercentage, type PercentageUsage } from './percentage.ts';
import type { Price } from './price.ts';
import { chargeSeats } from './seat.ts';
import { chargeVolume } from './volume.ts';

/** What was used from the beginning of a price's period up to some time in it, as its model needs it. */
export interface PeriodUsage {
  /** Of the meter, or the number of seats, or the quantity of a flat price; in units of 10^-12. */
  units: bigint;
  /** For `per_unit`; without it all units are of no value. */
  byValue?: readonly UsageOfValue[];
  /** For `percentage`. */
  byBound?: PercentageUsage;
}

/** What a price charges for a span within one of its periods. Money in units of 10^-24. */
export interface RatedSpan {
  quantity: bigint;
  /** Whole minor units of the currency: the sum of the three below, rounded. */
  amount: bigint;
  /** By the model alone. */
  exact: bigint;
  /**
   * What `minimum` adds to that; below zero where usage has come up to what it had added before. With what a
   * changed price does not give back.
   */
  minimum: bigint;
  /** What `maximum` adds, which is zero or below. */
  maximum: bigint;
  /** Their amounts add up to `exact`. */
  tiers?: ChargedTier[];
}

/** Usage from the beginning of a price's period up to three times. */
export interface SpanOfPeriod {
  /** The span's end. */
  until: PeriodUsage;
  /** Its beginning; undefined where it begins with the period, and has all that does not depend on usage. */
  before?: PeriodUsage | undefined;
  /** The time from which on the price has its amounts; undefined where that is the whole period. */
  changed?: PeriodUsage | undefined;
}

/**
 * The difference of what the period costs up to the span's end and up to its beginning, so that the spans of
 * a period add up to it in whatever way it is cut. What was charged before the price was changed stays: usage
 * after that can give back what was charged since, and no more.
 */
export function rateSpan(price: Price, { until, before, changed }: SpanOfPeriod): RatedSpan {
  const whole = chargedSince(price, until, changed);
  return before ? less(whole, chargedSince(price, before, changed)) : whole;
}

function chargedSince(price: Price, usage: PeriodUsage, changed: PeriodUsage | undefined): RatedSpan {
  const { quantity, amount: exact, tiers } = chargeOf(price, usage);
  const rated = { quantity, exact, ...billOf(price, exact), ...(tiers ? { tiers } : {}) };
  if (!changed) return rated;
  const since = less(rated, chargedSince(price, changed, undefined));
  const sum = since.exact + since.minimum + since.maximum;
  return sum < 0n ? { ...since, amount: 0n, minimum: since.minimum - sum } : since;
}

function less(a: RatedSpan, b: RatedSpan): RatedSpan {
  return {
    quantity: a.quantity - b.quantity,
    amount: a.amount - b.amount,
    exact: a.exact - b.exact,
    minimum: a.minimum - b.minimum,
    maximum: a.maximum - b.maximum,
    ...(a.tiers ? { tiers: lessEarlier(a.tiers, b.tiers) } : {}),
  };
}

export function chargeOf(price: Price, usage: PeriodUsage): Charge {
  const { units, byValue = [{ value: undefined, units }], byBound } = usage;
  switch (price.model) {
    case 'flat':
      return chargeFlat(price, units);
    case 'per_unit':
      return chargePerUnit(price, byValue);
    case 'graduated':
      return chargeGraduated(price, units);
    case 'volume':
      return chargeVolume(price, units);
    case 'package':
      return chargePackages(price, units);
    case 'percentage':
      return chargePercentage(price, byBound ?? withoutFees(units));
    case 'seat':
      return chargeSeats(price, units);
  }
}

/** Within the price's bounds, and rounded: the only place where money is. */
function billOf({ minimum, maximum, currency }: Price, amount: bigint) {
  const most = maximum === undefined ? amount : smaller(amount, moneyUnits(maximum));
  const bounded = minimum === undefined ? most : larger(most, moneyUnits(minimum));
  return {
    amount: roundToMinorUnit(bounded, currency),
    minimum: bounded - most,
    maximum: most - amount,
  };
}

function lessEarlier(tiers: readonly ChargedTier[], earlier: readonly ChargedTier[] = []): ChargedTier[] {
  return tiers.map(({ quantity, amount }, at) => ({
    quantity: quantity - (earlier[at]?.quantity ?? 0n),
    amount: amount - (earlier[at]?.amount ?? 0n),
  }));
}

/** A share of the sum alone needs no single events. */
function withoutFees(units: bigint): PercentageUsage {
  return { total: units, units, events: 0n, atMin: 0n, atMax: 0n, corrected: 0n };
}
