import fc from 'fast-check';
import { expect, it } from 'vitest';
import { creditText, creditUnits } from './credit-units.ts';

it('amounts of 24 fraction digits are read and written without loss', () => {
  const units = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n });
  fc.assert(fc.property(units, (amount) => creditUnits(creditText(amount)) === amount));
  expect(creditText(1n)).toBe('0.000000000000000000000001');
  expect(creditText(-(15n * 10n ** 23n))).toBe('-1.5');
  expect(creditText(0n)).toBe('0');
  expect(creditUnits('10.50')).toBe(105n * 10n ** 23n);
});
