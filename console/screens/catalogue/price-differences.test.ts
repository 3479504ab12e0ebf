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
  const base = { ...month, key: 'base', model: 'flat', amount: 59 };
  const quarter = { ...base, intervalCount: 3, amount: 150 };
  expect(differencesTo(JSON.stringify({ prices: [base, quarter] }))).toEqual([
    { name: 'price base, EUR every 3 months', before: undefined, after: '€150.00' },
    { name: 'price base, EUR every month', before: '€49.00', after: '€59.00' },
    { name: 'price calls, EUR every month', before: expect.any(String), after: undefined },
  ]);
});

/** Red when prices of one key take each other's place: a change of the monthly one was no difference. */
it('are of each period and currency of a key', () => {
  const year = { ...month, key: 'base', interval: 'year', model: 'flat', amount: 490 };
  const dollars = { ...year, currency: 'USD' };
  const twice = { prices: [...given, year, dollars, dollars] };
  expect(differencesTo(JSON.stringify(twice)).map(({ name }) => name)).toEqual([
    'price base, EUR every year',
    'price base, USD every year',
    'price base, USD every year, number 5',
  ]);
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
