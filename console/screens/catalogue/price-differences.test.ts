import { expect, it } from 'vitest';
import { compared } from './entitlement-drafts.ts';
import { priceTexts, writtenPrices } from './price-differences.ts';

const month = { currency: 'EUR', interval: 'month' };
const given = [
  { ...month, key: 'base', model: 'flat', amount: '49' },
  {
    ...month,
    key: 'calls',
    model: 'per_unit',
    meterKey: 'calls',
    unitAmount: '0.0015',
    included: '5000',
  },
];

function differencesTo(json: string) {
  return compared(priceTexts(given), priceTexts(writtenPrices(json) ?? []));
}

it('are none of the same prices, written as numbers, in any order', () => {
  const [base, calls] = [
    '{"key":"base","currency":"EUR","interval":"month","model":"flat","amount":49}',
    '{"key":"calls","model":"per_unit","meterKey":"calls","unitAmount":0.0015,"included":5000,' +
      '"currency":"EUR","interval":"month"}',
  ];
  expect(differencesTo(`{"prices":[${calls},${base}]}`)).toEqual([]);
});

it('are what costs more, what is gone and what is new', () => {
  const base = { ...month, key: 'base', model: 'flat', amount: 59, intervalCount: 3 };
  const seats = { ...month, key: 'seats', model: 'seat', featureKey: 'seats', unitAmount: 5 };
  const [first, second, third] = differencesTo(JSON.stringify({ prices: [base, seats] }));
  expect(first).toMatchObject({
    name: 'price base',
    before: 'every month: €49.00',
    after: 'every 3 months: €59.00',
  });
  expect(second).toMatchObject({ name: 'price calls', after: undefined });
  expect(third).toMatchObject({ name: 'price seats', before: undefined });
});

/** Red when what has no words is left out: the review would say that nothing changes. */
it('are also of members without words of their own', () => {
  const calls = { ...given[1], unitAmounts: { property: 'region', amounts: { eu: 0.002 } } };
  const [only, ...more] = differencesTo(JSON.stringify({ prices: [given[0], calls] }));
  expect(only?.after).toContain('unitAmounts {"property":"region","amounts":{"eu":"0.002"}}');
  expect(more).toEqual([]);
});

it.each(['{"prices":[1,null,{"model":"flat"},{"model":"flat","amount":1,"currency":"??"}]}'])(
  'are shown of faulty prices too: %s',
  (json) => {
    expect(differencesTo(json).length).toBeGreaterThan(0);
  },
);

it.each(['[]', 'null', '{"prices":{}}', '3'])('are of no prices in %s', (json) => {
  expect(writtenPrices(json)).toBeUndefined();
});
