import type { OfferedPlan, OfferedPrice } from './offered-plan.ts';

export type SwitchedInterval = 'month' | 'year';

/** Longest last. */
const DAYS = { day: 1, week: 7, month: 30.44, year: 365.25 };

/** In which currency a page shows prices: the wanted one where there is any price in it, else the first. */
export function currencyOf(plans: readonly OfferedPlan[], wanted: string | null): string | undefined {
  const all = plans.flatMap(({ prices }) => prices.map(({ currency }) => currency));
  return all.find((currency) => currency === wanted?.toUpperCase()) ?? all[0];
}

/** The intervals that a page lets its visitors choose from: those of fixed prices. */
export function switchedIntervals(plans: readonly OfferedPlan[], currency: string): SwitchedInterval[] {
  const flat = plans.flatMap(({ prices }) => prices).filter(({ model }) => model === 'flat');
  const intervals = flat.filter((price) => price.currency === currency && periodOf(price) === price.interval);
  return (['month', 'year'] as const).filter((one) => intervals.some(({ interval }) => interval === one));
}

/**
 * What a subscription with this interval pays: of the prices with one key the one with its interval, else the
 * one with the shortest, as the server charges.
 */
export function choosePrices(
  { prices }: OfferedPlan,
  { currency, interval }: { currency: string; interval: SwitchedInterval },
): OfferedPrice[] {
  const chosen = new Map<string, OfferedPrice>();
  for (const price of prices.filter((one) => one.currency === currency)) {
    const before = chosen.get(price.key);
    if (!before || isBetter(price, before, interval)) chosen.set(price.key, price);
  }
  return [...chosen.values()];
}

function isBetter(price: OfferedPrice, other: OfferedPrice, interval: SwitchedInterval): boolean {
  if (periodOf(other) === interval) return false;
  return periodOf(price) === interval || daysOf(price) < daysOf(other);
}

/** `month` for one month, `3 month` for three. */
function periodOf({ interval, intervalCount = 1 }: OfferedPrice): string {
  return intervalCount === 1 ? interval : `${intervalCount} ${interval}`;
}

function daysOf({ interval, intervalCount = 1 }: OfferedPrice): number {
  return DAYS[interval] * intervalCount;
}

/** The fixed part of a plan for one period. */
export interface Fixed {
  amount: number;
  interval: string;
  intervalCount: number;
}

/** Of the period of the first fixed price; those of other periods are in `rest`, as is what usage costs. */
export function splitFixed(prices: readonly OfferedPrice[], interval: SwitchedInterval) {
  const flat = prices.filter((price) => price.model === 'flat');
  const first = flat.find((price) => periodOf(price) === interval) ?? flat[0];
  if (!first) return { fixed: undefined, rest: [...prices] };
  const isOfPeriod = (price: OfferedPrice) => price.model === 'flat' && periodOf(price) === periodOf(first);
  const amount = flat.filter(isOfPeriod).reduce((sum, price) => sum + price.amount, 0);
  const fixed: Fixed = { amount, interval: first.interval, intervalCount: first.intervalCount ?? 1 };
  return { fixed, rest: prices.filter((price) => !isOfPeriod(price)) };
}

/** What paying by the year saves against twelve months, as a share; undefined where it saves nothing. */
export function yearlySaving(plan: OfferedPlan, currency: string): number | undefined {
  const fixedOf = (interval: SwitchedInterval) => {
    const { fixed } = splitFixed(choosePrices(plan, { currency, interval }), interval);
    return fixed?.interval === interval && fixed.intervalCount === 1 ? fixed.amount : undefined;
  };
  const [month, year] = [fixedOf('month'), fixedOf('year')];
  if (!month || year === undefined) return undefined;
  const saving = 1 - year / (12 * month);
  return saving >= 0.01 ? saving : undefined;
}
