import { minorUnitDigits } from '../../../schemas/primitives/currency.ts';
import { decimalUnits } from '../../../schemas/primitives/decimal.ts';
import { INTERVAL_COUNT_MAX } from '../../../schemas/resources/subscriptions.ts';
import type { Price, PriceTier } from './price.ts';

export interface PriceFault {
  /** The field, as `tiers.1.upTo`. */
  param: string;
  /** The end of "`param` …". */
  reason: string;
}

/** What is wrong with a price for itself; undefined if nothing is. */
export function priceFault(price: Price): PriceFault | undefined {
  const { currency, interval, intervalCount, minimum, maximum } = price;
  const countMax = INTERVAL_COUNT_MAX[interval];
  if (minorUnitDigits(currency) === undefined) {
    return { param: 'currency', reason: `is no currency in use: ${currency} is not a code of ISO 4217` };
  }
  if (intervalCount > countMax) {
    return { param: 'intervalCount', reason: `must be at most ${countMax} for the interval ${interval}` };
  }
  if (isBelow(maximum, minimum)) return { param: 'maximum', reason: 'must not be below `minimum`' };
  if (price.model === 'percentage' && isBelow(price.max, price.min)) {
    return { param: 'max', reason: 'must not be below `min`' };
  }
  return 'tiers' in price ? tierFault(price.tiers) : undefined;
}

function tierFault(tiers: readonly PriceTier[]): PriceFault | undefined {
  for (const [at, { upTo }] of tiers.entries()) {
    const param = `tiers.${at}.upTo`;
    const isLast = at === tiers.length - 1;
    if (isLast && upTo !== null) return { param, reason: 'must be null: the last tier has no end' };
    if (!isLast && upTo === null) return { param, reason: 'can be null in the last tier only' };
    const before = tiers[at - 1]?.upTo;
    if (upTo !== null && before && !isBelow(before, upTo)) {
      return { param, reason: `must be more than ${before}, where the tier before it ends` };
    }
  }
  return undefined;
}

/**
 * The first price that charges what an earlier one of the set charges: the same key in the same currency and
 * interval, or another key for the same meter or feature in the same currency.
 */
export function overlap(prices: readonly Price[]): { at: number; fault: PriceFault } | undefined {
  for (const [at, price] of prices.entries()) {
    for (const earlier of prices.slice(0, at)) {
      const fault = overlapOf(price, earlier);
      if (fault) return { at, fault };
    }
  }
  return undefined;
}

function overlapOf(price: Price, earlier: Price): PriceFault | undefined {
  if (price.currency !== earlier.currency) return undefined;
  if (price.key === earlier.key) {
    const isSame = price.interval === earlier.interval && price.intervalCount === earlier.intervalCount;
    if (isSame) {
      return { param: 'key', reason: 'repeats a price with the same key, currency and interval' };
    }
    return priced(price) === priced(earlier)
      ? undefined
      : { param: 'key', reason: 'is the key of a price for something else; each price needs its own' };
  }
  const charged = priced(price);
  if (charged === undefined || charged !== priced(earlier)) return undefined;
  const param = price.model === 'seat' ? 'featureKey' : 'meterKey';
  return { param, reason: `overlaps with the price ${earlier.key}, which charges the same usage` };
}

/** What is charged; undefined where it is nothing that could be charged twice. */
function priced(price: Price): string | undefined {
  if (price.model === 'flat') return undefined;
  return price.model === 'seat' ? `feature ${price.featureKey}` : `meter ${price.meterKey}`;
}

function isBelow(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && decimalUnits(a) < decimalUnits(b);
}
