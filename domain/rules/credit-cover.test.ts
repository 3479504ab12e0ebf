import { describe, expect, it } from 'vitest';
import { decimalUnits } from '../../schemas/primitives/decimal.ts';
import { coverOf, rateOfOneMore } from './credit-cover.ts';

/*
 * Whether credits suffice. Mutants that turn it red: the cheapest rate instead of the dearest; rates compared
 * as text; a rate of 0 as one; the unpaid rest left out; < instead of <=; twelve digits of a product.
 */
describe('the rate of one more', () => {
  const rates = { property: 'region', rates: { eu: '9', us: '10', free: '0' } };

  it("is the meter's own, whatever the rates by a property are", () => {
    expect(rateOfOneMore({ creditRate: '0.5', creditRates: null })).toBe('0.5');
    expect(rateOfOneMore({ creditRate: '0.5', creditRates: rates })).toBe('0.5');
  });

  it('is the dearest by a property where there is no other', () => {
    expect(rateOfOneMore({ creditRate: null, creditRates: rates })).toBe('10');
  });

  it('is none where usage costs nothing', () => {
    expect(rateOfOneMore({ creditRate: null, creditRates: null })).toBeUndefined();
    expect(rateOfOneMore({ creditRate: '0', creditRates: rates })).toBeUndefined();
    expect(
      rateOfOneMore({ creditRate: null, creditRates: { ...rates, rates: { eu: '0' } } }),
    ).toBeUndefined();
  });
});

describe('credits', () => {
  it('reach for what costs as much as they are, to the last of 24 digits', () => {
    const rate = '0.000000000001';
    const one = decimalUnits('0.000000000001');
    const cost = '0.000000000000000000000001';
    const cover = (balance: string, unpaid = '0') => coverOf({ balance, unpaid, rate }, one);
    expect(cover(cost)).toEqual({ cost, available: cost, reaches: true });
    expect(coverOf({ balance: cost, unpaid: '0', rate }, 2n * one).reaches).toBe(false);
    expect(cover('0')).toEqual({ cost, available: '0', reaches: false });
    expect(cover('0', '7')).toEqual({ cost, available: '-7', reaches: false });
  });
});
