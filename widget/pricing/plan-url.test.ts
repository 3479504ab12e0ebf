import { expect, it } from 'vitest';
import { planUrl } from './plan-url.ts';

/* Red when a value is not encoded, when the session is left out or added twice, or comes after a fragment. */
const VALUES = { planKey: 'a&b', planId: 'plan_a', interval: 'month', currency: 'EUR', sessionId: 's 1' };

it.each([
  ['/checkout?plan={planKey}', '/checkout?plan=a%26b&sessionId=s%201'],
  ['/checkout/{planId}', '/checkout/plan_a?sessionId=s%201'],
  ['/buy/{sessionId}/{interval}/{currency}', '/buy/s%201/month/EUR'],
  ['/checkout?x=1#plan-{planKey}', '/checkout?x=1&sessionId=s%201#plan-a%26b'],
  ['https://shop.example/{unknown}', 'https://shop.example/{unknown}?sessionId=s%201'],
  ['', '?sessionId=s%201'],
])('%s leads to %s', (template, url) => {
  expect(planUrl(template, VALUES)).toBe(url);
});
