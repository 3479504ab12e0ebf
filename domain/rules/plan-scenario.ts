import type { Interval } from '../../schemas/value-sets.ts';
import type { Price } from './rating/price.ts';

/** What choosing a plan would be for a customer. */
export type PlanScenario = 'new' | 'upgrade' | 'downgrade' | 'active' | 'scheduled';

/** A plan as far as it is compared with others of its product. */
export interface RankedPlan {
  id: string;
  productId: string;
  position: number | null;
  createdAt: Date;
  prices: readonly Price[];
}

export interface CustomerPlans {
  /** Of subscriptions that have begun and not ended, in the version that each has. */
  current: readonly RankedPlan[];
  /** Plans that a subscription will change to, or that one begins with later. */
  scheduledIds: ReadonlySet<string>;
}

/** A plan is an upgrade when it ranks above every plan that the customer has of the same product. */
export function planScenario(plan: RankedPlan, { current, scheduledIds }: CustomerPlans): PlanScenario {
  if (current.some(({ id }) => id === plan.id)) return 'active';
  if (scheduledIds.has(plan.id)) return 'scheduled';
  const sameProduct = current.filter(({ productId }) => productId === plan.productId);
  if (sameProduct.length === 0) return 'new';
  return sameProduct.every((one) => ranksAbove(plan, one)) ? 'upgrade' : 'downgrade';
}

/** By what they cost at least, if that is known of both in one currency; else by their place on the page. */
function ranksAbove(plan: RankedPlan, other: RankedPlan): boolean {
  const [mine, theirs] = [yearlyAmounts(plan.prices), yearlyAmounts(other.prices)];
  const currency = [...mine.keys()].sort().find((code) => theirs.has(code));
  const difference = currency === undefined ? 0 : (mine.get(currency) ?? 0) - (theirs.get(currency) ?? 0);
  return difference === 0 ? isPlacedAfter(plan, other) : difference > 0;
}

/** As a list of published plans is sorted. */
function isPlacedAfter(plan: RankedPlan, other: RankedPlan): boolean {
  const place = (one: RankedPlan) => one.position ?? Number.POSITIVE_INFINITY;
  if (place(plan) !== place(other)) return place(plan) > place(other);
  const [mine, theirs] = [plan.createdAt.getTime(), other.createdAt.getTime()];
  return mine === theirs ? plan.id > other.id : mine > theirs;
}

const PER_YEAR: Record<Interval, number> = { day: 365, week: 365 / 7, month: 12, year: 1 };

/**
 * What is charged in a year without any usage, by currency. Of prices with one key it is the one with the
 * shortest period. Only compared, never charged: a double is exact enough.
 */
function yearlyAmounts(prices: readonly Price[]): Map<string, number> {
  const shortest = new Map<string, Price>();
  for (const price of prices) {
    const name = `${price.currency} ${price.key}`;
    const before = shortest.get(name);
    if (!before || periodsPerYear(price) > periodsPerYear(before)) shortest.set(name, price);
  }
  const amounts = new Map<string, number>();
  for (const price of shortest.values()) {
    const amount = price.model === 'flat' ? Number(price.amount) * periodsPerYear(price) : 0;
    amounts.set(price.currency, (amounts.get(price.currency) ?? 0) + amount);
  }
  return amounts;
}

function periodsPerYear({ interval, intervalCount }: Price): number {
  return PER_YEAR[interval] / intervalCount;
}
