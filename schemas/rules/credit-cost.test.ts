import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creditCost } from './credit-cost.ts';
import { unitsText } from './decimal.ts';

// Breaks that turn it red: a double on the way; the product cut off at twelve digits; rates of the prototype.
describe('a credit cost', () => {
  it('is exact to the last digit', () => {
    const rates = { rate: '0.000000000001' };
    expect(creditCost([{ label: '', amount: '0.000000000001' }], rates)).toBe('0.000000000000000000000001');
    expect(creditCost([{ label: '', amount: '-999999999999999' }], { rate: '999999999999999.5' })).toBe(
      '-999999999999998500000000000000.5',
    );
  });

  it('is the sum of amounts by their rates', () => {
    const units = fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n });
    fc.assert(
      fc.property(units, units, units, units, (a, b, rate, eu) => {
        const usage = [
          { label: 'eu', amount: unitsText(a) },
          { label: 'us', amount: unitsText(b) },
        ];
        const rates = { rate: unitsText(rate), property: { name: 'region', rates: { eu: unitsText(eu) } } };
        const [integer = '', fraction = ''] = creditCost(usage, rates).split('.');
        expect(BigInt(integer + fraction.padEnd(24, '0'))).toBe(a * eu + b * rate);
      }),
    );
  });

  it('takes no rate from a name that every object has', () => {
    const rates = { rate: '2', property: { name: 'region', rates: { eu: '5' } } };
    expect(creditCost([{ label: 'constructor', amount: '3' }], rates)).toBe('6');
  });
});
