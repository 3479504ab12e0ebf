import { describe, expect, it } from 'vitest';
import type { Wire } from '../../control-plane/api-under-test.ts';
import type { Pricing } from '../../schemas/resources/pricing.ts';
import {
  choosePrices,
  currencyOf,
  type SwitchedInterval,
  splitFixed,
  switchedIntervals,
  yearlySaving,
} from './choose-prices.ts';
import type { OfferedPlan, OfferedPrice } from './offered-plan.ts';

/* Red when the fallback is the longest period, when a sum mixes periods, or a quarter counts as a month. */
const flat = (fields: Partial<OfferedPrice> & { amount: number }): OfferedPrice =>
  ({ key: 'base', currency: 'EUR', interval: 'month', model: 'flat', ...fields }) as OfferedPrice;
const planOf = (...prices: OfferedPrice[]): OfferedPlan => ({
  ...{ id: 'plan_a', key: 'a', name: 'A', entitlements: [], prices },
});

it('reads the contract: what the API returns is what the element expects', () => {
  const check = (plans: Wire<Pricing>['plans']): OfferedPlan[] => plans;
  expect(check([])).toEqual([]);
});

describe('the prices of a plan', () => {
  const chosen = (plan: OfferedPlan, interval: SwitchedInterval) =>
    choosePrices(plan, { currency: 'EUR', interval }).map((price) => (price as { amount: number }).amount);

  it('are those of the interval, else of the shortest period, of each key', () => {
    const both = planOf(flat({ amount: 490, interval: 'year' }), flat({ amount: 49 }));
    expect(chosen(both, 'month')).toEqual([49]);
    expect(chosen(both, 'year')).toEqual([490]);
    const fallback = planOf(flat({ amount: 140, intervalCount: 3 }), flat({ amount: 9, interval: 'week' }));
    expect(chosen(fallback, 'month')).toEqual([9]);
    const others = planOf(flat({ amount: 5, currency: 'USD' }), flat({ amount: 7, key: 'support' }));
    expect(chosen(others, 'month')).toEqual([7]);
  });

  it('add up what is fixed for one period, and leave the rest for lines of its own', () => {
    const support = flat({ amount: 5, key: 'support' });
    const hardware = flat({ amount: 60, key: 'hardware', interval: 'year' });
    const plan = planOf(hardware, flat({ amount: 44 }), support);
    const monthly = splitFixed(choosePrices(plan, { currency: 'EUR', interval: 'month' }), 'month');
    expect(monthly).toEqual({ fixed: { amount: 49, interval: 'month', intervalCount: 1 }, rest: [hardware] });
    const quarterly = splitFixed([flat({ amount: 140, intervalCount: 3 })], 'month');
    expect(quarterly.fixed).toEqual({ amount: 140, interval: 'month', intervalCount: 3 });
    expect(splitFixed([], 'month')).toEqual({ fixed: undefined, rest: [] });
  });
});

it('the currency is the wanted one where there is a price in it', () => {
  const plans = [planOf(), planOf(flat({ amount: 1 }), flat({ amount: 2, currency: 'USD' }))];
  expect(currencyOf(plans, null)).toBe('EUR');
  expect(currencyOf(plans, 'usd')).toBe('USD');
  expect(currencyOf(plans, 'CHF')).toBe('EUR');
  expect(currencyOf([planOf()], 'CHF')).toBeUndefined();
});

it('intervals to choose from are those of fixed prices in the currency', () => {
  const month = flat({ amount: 1 });
  const year = flat({ amount: 10, interval: 'year' });
  expect(switchedIntervals([planOf(month), planOf(year)], 'EUR')).toEqual(['month', 'year']);
  expect(switchedIntervals([planOf(month, flat({ amount: 9, intervalCount: 3 }))], 'EUR')).toEqual(['month']);
  expect(switchedIntervals([planOf(month, year)], 'USD')).toEqual([]);
});

it.each([
  [100, 1000, 1 - 1000 / 1200],
  [100, 1200, undefined],
  [100, 1300, undefined],
  [0, 0, undefined],
])('a year for %d a month and %d a year saves %d', (month, year, saving) => {
  const plan = planOf(flat({ amount: month }), flat({ amount: year, interval: 'year' }));
  expect(yearlySaving(plan, 'EUR')).toBe(saving);
  expect(yearlySaving(planOf(flat({ amount: month })), 'EUR')).toBeUndefined();
});
