import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundToMinorUnit } from './money.ts';
import { isShareAlone, unboundedValues } from './percentage.ts';
import type { Price } from './price.ts';
import { chargeOf, rateSpan } from './rate-price.ts';
import { expectedAmount, prices, type UsedEvent, usageOf, usedEvents } from './rating-oracle.ts';

/*
 * Mutants that turn it red: a tier that excludes its own end; the first tier's flat amount only where there
 * is usage; a package that is charged only when it is full; the cheapest units included first; rounding half
 * up; usage below zero charged; corrections of a percentage left out; what was charged before a change of
 * the price given back at the new one.
 */
const CASES = Number(process.env.METERGATE_PRICES ?? 2_500);
const SLOW = { timeout: 600_000 };
const USD = { key: 'p', currency: 'USD', interval: 'month', intervalCount: 1 } as const;

describe('what a price charges', () => {
  it('is what a walk over half units and events finds', SLOW, () => {
    fc.assert(
      fc.property(prices, usedEvents, (price, events) => {
        expect(rateSpan(price, { until: usageOf(price, events) }).amount).toBe(expectedAmount(price, events));
      }),
      { numRuns: CASES },
    );
  });

  it('grows with usage, but for the bound of two volume tiers', SLOW, () => {
    const used = fc.array(fc.record({ halves: fc.nat(60), region: fc.constantFrom('eu', 'us', undefined) }));
    fc.assert(
      fc.property(prices, used, fc.nat(14), (price, events, cut) => {
        fc.pre(price.model !== 'volume');
        const [less, more] = [events.slice(0, cut), events].map((some) =>
          amountOf(price, some as UsedEvent[]),
        );
        expect(less).toBeLessThanOrEqual(more ?? 0n);
      }),
      { numRuns: CASES },
    );
  });

  it('is the sum of its tiers, within the bounds of the price', SLOW, () => {
    fc.assert(
      fc.property(prices, usedEvents, (price, events) => {
        fc.pre(price.model === 'graduated' || price.model === 'volume');
        const { amount, tiers = [] } = rateSpan(withoutBounds(price), { until: usageOf(price, events) });
        const sum = tiers.reduce((total, tier) => total + tier.amount, 0n);
        expect(amount).toBe(roundToMinorUnit(sum, price.currency));
      }),
      { numRuns: CASES },
    );
  });

  it('is the same when its period is cut anywhere, in any number of spans', SLOW, () => {
    fc.assert(
      fc.property(prices, usedEvents, fc.array(fc.nat(14), { maxLength: 5 }), (price, events, cuts) => {
        const ends = [...cuts, events.length].filter((end) => end <= events.length).sort((a, b) => a - b);
        const usages = ends.map((end) => usageOf(price, events.slice(0, end)));
        const spans = usages.map((until, at) => rateSpan(price, { until, before: usages[at - 1] }));
        const whole = rateSpan(price, { until: usageOf(price, events) });
        expect(spans.reduce((sum, { amount }) => sum + amount, 0n)).toBe(whole.amount);
        expect(spans.reduce((sum, { quantity }) => sum + quantity, 0n)).toBe(whole.quantity);
        for (const [at, tier] of (whole.tiers ?? []).entries()) {
          const parts = spans.map(({ tiers = [] }) => tiers[at]?.amount ?? 0n);
          expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(tier.amount);
        }
      }),
      { numRuns: CASES },
    );
  });
});

describe('what a changed price charges', () => {
  it('gives nothing back of what was charged before, in whatever way the time is cut', SLOW, () => {
    fc.assert(
      fc.property(prices, usedEvents, fc.array(fc.nat(14), { maxLength: 4 }), (price, events, cuts) => {
        const places = [...cuts, events.length].map((end) => Math.min(end, events.length));
        const [changed, ...ends] = places
          .sort((a, b) => a - b)
          .map((end) => usageOf(price, events.slice(0, end)));
        if (!changed) return;
        const spans = ends.map((until, at) =>
          rateSpan(price, { until, before: ends[at - 1] ?? changed, changed }),
        );
        const amounts = ['amount', 'exact', 'minimum', 'maximum'] as const;
        const of = (name: (typeof amounts)[number]) => spans.reduce((sum, one) => sum + one[name], 0n);
        const [all, then] = [ends.at(-1) ?? changed, changed].map((until) => rateSpan(price, { until }));
        const more = (all?.amount ?? 0n) - (then?.amount ?? 0n);
        expect(of('amount')).toBe(more > 0n ? more : 0n);
        const exact = of('exact') + of('minimum') + of('maximum');
        expect(exact).toBeGreaterThanOrEqual(0n);
      }),
      { numRuns: CASES },
    );
  });
});

describe('the values for which neither bound of a percentage holds', () => {
  it('are those of the events that cost their share and fee', SLOW, () => {
    fc.assert(
      fc.property(prices, usedEvents, (price, events) => {
        fc.pre(price.model === 'percentage');
        const { byBound } = usageOf(price, events);
        const { from, to } = unboundedValues(price);
        const values = events
          .map(({ halves }) => (BigInt(halves) * 10n ** 12n) / 2n)
          .filter((one) => one >= 0n);
        const beyond = values.filter((value) => value > to);
        const below = values.filter((value) => value <= to && value < from);
        expect([below.length, beyond.length].map(BigInt)).toEqual([byBound?.atMin, byBound?.atMax]);
        if (isShareAlone(price)) {
          const { amount } = chargeOf(price, { units: usageOf(price, events).units });
          expect(amount).toBe(chargeOf(price, usageOf(price, events)).amount);
        }
      }),
      { numRuns: CASES },
    );
  });
});

describe('a tier', () => {
  const tiers = [
    { upTo: '10', unitAmount: '1', flatAmount: '5' },
    { upTo: null, unitAmount: '0.5', flatAmount: '100' },
  ];

  it.each([
    ['graduated', 0, '5'],
    ['graduated', 10, '15'],
    ['graduated', 11, '115.5'],
    ['volume', 0, '5'],
    ['volume', 10, '15'],
    ['volume', 11, '105.5'],
  ] as const)('includes its own end: %s, %i units cost %s', (model, used, amount) => {
    const price: Price = { ...USD, model, meterKey: 'calls', tiers };
    expect(rateSpan(price, { until: { units: BigInt(used) * 10n ** 12n } }).amount).toBe(units(amount));
  });
});

describe('money', () => {
  it.each([
    ['0.125', 'USD', '0.12'],
    ['0.135', 'USD', '0.14'],
    ['0.1250000000000001', 'USD', '0.13'],
    ['-0.125', 'USD', '-0.12'],
    ['2.5', 'JPY', '2'],
    ['3.5', 'JPY', '4'],
    ['0.0005', 'KWD', '0'],
    ['0.0015', 'KWD', '0.002'],
  ])('%s %s is rounded half-even to %s', (exact, currency, rounded) => {
    expect(roundToMinorUnit(units(exact), currency)).toBe(units(rounded));
  });

  it('keeps every digit until the line', () => {
    const price: Price = { ...USD, model: 'per_unit', meterKey: 'calls', unitAmount: '0.000000000001' };
    expect(chargeOf(price, { units: 1n }).amount).toBe(1n);
    expect(rateSpan(price, { until: { units: 5n * 10n ** 21n } }).amount).toBe(0n);
    expect(rateSpan(price, { until: { units: 5n * 10n ** 21n + 1n } }).amount).toBe(units('0.01'));
  });
});

function amountOf(price: Price, events: readonly UsedEvent[]): bigint {
  return rateSpan(price, { until: usageOf(price, events) }).amount;
}

function withoutBounds({ minimum: _, maximum: __, ...price }: Price): Price {
  return price as Price;
}

function units(text: string): bigint {
  const [integer = '', fraction = ''] = text.replace('-', '').split('.');
  const all = BigInt(integer + fraction.padEnd(24, '0'));
  return text.startsWith('-') ? -all : all;
}
