import { expect, test } from 'vitest';
import { ROUTES } from '../../schemas/routes.ts';
import { numbersAsText } from './numbers-as-text.ts';

test('decimals are texts, digit by digit; counts, shares and what clients wrote are not', () => {
  const amounts = '"total":123456789.000000000001,"count":2,"creditCost":0';
  const breakdown =
    '{"customerId":"c","meterId":"m","dimension":"region","total":-0.5,"totalCreditCost":1,' +
    `"breakdown":[{"value":"7",${amounts}}],"other":{${amounts}}}`;
  const asText = '"total":"123456789.000000000001","count":2,"creditCost":"0"';
  expect(numbersAsText(ROUTES['usage.breakdown'].response, breakdown)).toBe(
    '{"customerId":"c","meterId":"m","dimension":"region","total":"-0.5","totalCreditCost":"1",' +
      `"breakdown":[{"value":"7",${asText}}],"other":{${asText}}}`,
  );
  const event = '{"id":"use_a","value":0.1,"properties":{"size":7,"exact":123456789.000000000001}}';
  expect(numbersAsText(ROUTES['usage.events'].response, `{"data":[${event}]}`)).toBe(
    `{"data":[${event.replace('0.1', '"0.1"')}]}`,
  );
  const funnel = '{"stages":[{"stage":"activated","sessions":2,"rate":0.5}]}';
  expect(numbersAsText(ROUTES['funnel.retrieve'].response, funnel)).toBe(funnel);
});

test('values of several types are texts where they are numbers, and rates by name too', () => {
  const given = '{"entitlements":[{"value":5},{"value":true},{"value":null}],"version":3}';
  expect(numbersAsText(ROUTES['plans.replaceEntitlements'].response, given)).toBe(given.replace('5', '"5"'));
  const rated = '{"creditRate":0.1,"creditRates":{"property":"p","rates":{"eu":2,"1":3.5}}}';
  expect(JSON.parse(numbersAsText(ROUTES['meters.retrieve'].response, rated))).toEqual({
    creditRate: '0.1',
    creditRates: { property: 'p', rates: { eu: '2', 1: '3.5' } },
  });
});

test('of a union the decimals of the branch that the object names are texts', () => {
  const price = (amount: string) => `{"model":"flat","key":"1","intervalCount":1,"amount":${amount}}`;
  const tiers = (upTo: string) => `{"model":"volume","tiers":[{"upTo":${upTo}},{"upTo":null}]}`;
  const prices = (amount: string, upTo: string) => `{"version":1,"prices":[${price(amount)},${tiers(upTo)}]}`;
  const { response } = ROUTES['plans.retrievePrices'];
  expect(numbersAsText(response, prices('0.10', '5'))).toBe(prices('"0.10"', '"5"'));
});
