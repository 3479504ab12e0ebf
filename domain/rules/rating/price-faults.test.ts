import { describe, expect, it } from 'vitest';
import type { Price } from './price.ts';
import { overlap, priceFault } from './price-faults.ts';

const USD = { key: 'p', currency: 'USD', interval: 'month', intervalCount: 1 } as const;
const flat: Price = { ...USD, model: 'flat', amount: '1' };
const calls: Price = { ...USD, key: 'calls', model: 'per_unit', meterKey: 'calls', unitAmount: '1' };
const tiers = (...ends: Array<string | null>): Price => {
  return {
    ...USD,
    model: 'volume',
    meterKey: 'calls',
    tiers: ends.map((upTo) => ({ upTo, unitAmount: '1' })),
  };
};

describe('a price', () => {
  it.each<[string, Price, param: string | undefined]>([
    ['flat', flat, undefined],
    ['of an unknown currency', { ...flat, currency: 'XYZ' }, 'currency'],
    ['of a former currency', { ...flat, currency: 'DEM' }, 'currency'],
    ['every 366 days', { ...flat, interval: 'day', intervalCount: 366 }, undefined],
    ['every 366 months', { ...flat, intervalCount: 366 }, 'intervalCount'],
    ['whose bounds are equal', { ...flat, minimum: '1.5', maximum: '1.50' }, undefined],
    ['whose bounds are crossed', { ...flat, minimum: '10', maximum: '9' }, 'maximum'],
    ['with one tier', tiers(null), undefined],
    ['with ascending tiers', tiers('1', '1.000000000001', '10', null), undefined],
    ['with tiers out of order', tiers('10', '9', null), 'tiers.1.upTo'],
    ['with a tier twice', tiers('10', '10.0', null), 'tiers.1.upTo'],
    ['whose last tier ends', tiers('10', '20'), 'tiers.1.upTo'],
    ['with an endless tier in the middle', tiers('10', null, null), 'tiers.1.upTo'],
    [
      'of crossed fees',
      { ...USD, model: 'percentage', meterKey: 'calls', rate: '0.1', min: '2', max: '1' },
      'max',
    ],
  ])('%s', (_, price, param) => {
    expect(priceFault(price)?.param).toBe(param);
  });
});

describe('a set of prices', () => {
  const yearly = { interval: 'year' } as const;
  it.each<[string, Price[], found: [at: number, param: string] | undefined]>([
    ['of none', [], undefined],
    ['of a price by the month and by the year', [flat, { ...flat, ...yearly }], undefined],
    ['of a price in two currencies', [calls, { ...calls, currency: 'EUR' }], undefined],
    ['of two flat prices', [flat, { ...flat, key: 'support' }], undefined],
    ['with a price twice', [flat, calls, { ...flat, amount: '2' }], [2, 'key']],
    ['with two keys for one meter', [calls, { ...calls, key: 'more' }], [1, 'meterKey']],
    [
      'with two keys for one meter by interval',
      [calls, { ...calls, key: 'more', ...yearly }],
      [1, 'meterKey'],
    ],
    ['with one key for a meter and a flat price', [calls, { ...flat, key: 'calls', ...yearly }], [1, 'key']],
  ])('%s', (_, prices, found) => {
    const overlapping = overlap(prices);
    expect(overlapping && [overlapping.at, overlapping.fault.param]).toEqual(found);
  });
});
