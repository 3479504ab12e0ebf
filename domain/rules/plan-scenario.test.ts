import { describe, expect, it } from 'vitest';
import type { Interval } from '../../schemas/value-sets.ts';
import { planScenario, type RankedPlan } from './plan-scenario.ts';
import type { Price } from './rating/price.ts';

/*
 * Red when products are not told apart, when one lower plan is enough for an upgrade, when prices of
 * different periods or currencies are compared as they are, or when the place counts before the price.
 */
const NOTHING = { current: [], scheduledIds: new Set<string>() };

function plan(id: string, fields: Partial<RankedPlan> = {}): RankedPlan {
  const createdAt = new Date(0);
  return { id, productId: 'product', position: null, createdAt, prices: [], ...fields };
}

function flat(amount: string, interval: Interval = 'month', currency = 'EUR', key = 'base'): Price {
  return { key, currency, interval, intervalCount: 1, model: 'flat', amount };
}

const against = (one: RankedPlan, ...current: RankedPlan[]) =>
  planScenario(one, { current, scheduledIds: new Set() });

describe('the scenario of a plan', () => {
  it('is new without a plan of the same product', () => {
    expect(planScenario(plan('a'), NOTHING)).toBe('new');
    expect(against(plan('a'), plan('b', { productId: 'other' }))).toBe('new');
  });

  it('is active for what the customer has, and scheduled for what it will have', () => {
    const customer = { current: [plan('a')], scheduledIds: new Set(['b', 'a']) };
    expect(planScenario(plan('a'), customer)).toBe('active');
    expect(planScenario(plan('b'), customer)).toBe('scheduled');
    expect(planScenario(plan('b'), { ...NOTHING, scheduledIds: new Set(['b']) })).toBe('scheduled');
  });

  it('compares what is charged without usage, whatever the periods', () => {
    const monthly = plan('m', { prices: [flat('10')] });
    expect(against(plan('y', { prices: [flat('119', 'year')] }), monthly)).toBe('downgrade');
    expect(against(plan('y', { prices: [flat('121', 'year')] }), monthly)).toBe('upgrade');
    const both = plan('b', { prices: [flat('100', 'year'), flat('9')] });
    expect(against(both, monthly)).toBe('downgrade');
    expect(against(monthly, both)).toBe('upgrade');
    const twoParts = plan('t', { prices: [flat('6'), flat('5', 'month', 'EUR', 'support')] });
    expect(against(twoParts, monthly)).toBe('upgrade');
  });

  it('goes by price before place, and by place where prices say nothing', () => {
    const first = { position: 1 };
    const last = { position: 9 };
    expect(
      against(plan('a', { ...first, prices: [flat('20')] }), plan('b', { ...last, prices: [flat('10')] })),
    ).toBe('upgrade');
    expect(against(plan('a', first), plan('b', last))).toBe('downgrade');
    expect(against(plan('a', last), plan('b', { ...first, prices: [flat('10')] }))).toBe('upgrade');
    const dollars = plan('b', { ...last, prices: [flat('10', 'month', 'USD')] });
    expect(against(plan('a', { ...first, prices: [flat('20')] }), dollars)).toBe('downgrade');
    const both = plan('a', { ...last, prices: [flat('30', 'month', 'USD'), flat('10')] });
    expect(against(both, plan('b', { ...first, prices: [flat('11')] }))).toBe('downgrade');
    expect(against(plan('a', { createdAt: new Date(1) }), plan('b'))).toBe('upgrade');
    expect(against(plan('a'), plan('b', last))).toBe('upgrade');
  });

  it('is an upgrade only above all plans that the customer has', () => {
    const [low, middle, high] = [1, 2, 3].map((position) => plan(`p${position}`, { position }));
    if (!low || !middle || !high) throw new Error('three plans');
    expect(against(middle, low)).toBe('upgrade');
    expect(against(middle, low, high)).toBe('downgrade');
    expect(against(high, low, middle)).toBe('upgrade');
  });
});
