import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unitsText } from '../../schemas/primitives/decimal.ts';
import { type CreditRates, creditCost, labelOfValue, type RateVersion, UNRATED } from './credit-cost.ts';

function versions(...rates: Array<CreditRates | undefined>): RateVersion[] {
  return rates.map((one, at) => ({ version: at + 1, startMs: at, burnsFromMs: at, rates: one }));
}

// Mutants that turn it red: a double on the way; the product cut off at twelve digits; rates of the
// prototype; the newest version's rates for all of it.
describe('a credit cost', () => {
  it('is exact to the last digit', () => {
    const cost = (amount: string, rate: string) =>
      creditCost([{ version: 1, label: UNRATED, amount }], versions({ rate }));
    expect(cost('0.000000000001', '0.000000000001')).toBe('0.000000000000000000000001');
    expect(cost('-999999999999999', '999999999999999.5')).toBe('-999999999999998500000000000000.5');
  });

  it('is the sum of amounts by their rates', () => {
    const units = fc.bigInt({ min: -(10n ** 27n), max: 10n ** 27n });
    fc.assert(
      fc.property(units, units, units, units, (a, b, rate, eu) => {
        const usage = [
          { version: 1, label: labelOfValue('eu'), amount: unitsText(a) },
          { version: 1, label: labelOfValue('us'), amount: unitsText(b) },
        ];
        const rates = { rate: unitsText(rate), property: { name: 'region', rates: { eu: unitsText(eu) } } };
        const [integer = '', fraction = ''] = creditCost(usage, versions(rates)).split('.');
        expect(BigInt(integer + fraction.padEnd(24, '0'))).toBe(a * eu + b * rate);
      }),
    );
  });

  it('takes the rates of the version under which something occurred', () => {
    const usage = [0, 1, 2, 3].map((version) => ({ version, label: UNRATED, amount: '10' }));
    expect(creditCost(usage, versions({ rate: '2' }, undefined, { rate: '0.5' }))).toBe('25');
  });

  it('takes no rate from a name that every object has', () => {
    const rates = { rate: '2', property: { name: 'region', rates: { eu: '5' } } };
    const usage = [{ version: 1, label: labelOfValue('constructor'), amount: '3' }];
    expect(creditCost(usage, versions(rates))).toBe('6');
  });

  it('distinguishes a rate of the empty value from that of all others', () => {
    const rates = { rate: '2', property: { name: 'region', rates: { '': '5' } } };
    const cost = (label: string) => creditCost([{ version: 1, label, amount: '3' }], versions(rates));
    expect([cost(UNRATED), cost(labelOfValue(''))]).toEqual(['6', '15']);
  });
});
