import { expect, it } from 'vitest';
import { otherFacts } from './other-facts.ts';

// Red when a field is left out, or an object is shown as [object Object].
it('fields without a place of their own are shown by their names in words, objects are not', () => {
  const fields = {
    region: 'EU',
    billingCountry: 'DE',
    seats: 3,
    vip: false,
    none: null,
    more: { a: 1 },
    list: [1],
  };
  expect(otherFacts(fields)).toEqual([
    ['Region', 'EU'],
    ['Billing country', 'DE'],
    ['Seats', '3'],
    ['Vip', 'false'],
  ]);
});
