import { expect, it } from 'vitest';
import { amount } from './figures.ts';
import { numberOf } from './typed-number.ts';

it.each(['0', '250', '60000', '1234567.000000000001', '0.5'])('takes %s as it is', (text) => {
  expect(numberOf(` ${text} `)).toBe(text);
});

/** Red when "60,000", which the screen shows, is no number in its own fields. */
it.each(['1000', '60000', '1234567', '98765432100.25'])('takes %s as the screen writes it', (text) => {
  expect(numberOf(amount(text))).toBe(text);
  expect(numberOf(amount(text).replaceAll(',', '\u202f'))).toBe(text);
});

it.each([
  '',
  '-1',
  '1,5',
  '60,00',
  '1,000,00',
  '1,000 000',
  '0,123',
  '007',
  '1e5',
  '1.',
  '.5',
  'ten',
  '0x10',
])('takes %j for no number', (text) => {
  expect(numberOf(text)).toBeUndefined();
});
