import { expect, it } from 'vitest';
import { thresholdsOf } from './budget-thresholds.ts';

it('are the numbers that were typed, with their digits', () => {
  expect(thresholdsOf('48,000', '60 000.000000000001')).toEqual({
    soft: '48000',
    hard: '60000.000000000001',
  });
  expect(thresholdsOf('', '0')).toEqual({ hard: '0' });
  expect(thresholdsOf(' 5 ', ' ')).toEqual({ soft: '5' });
});

it.each([
  ['', ' ', 'at least one'],
  ['ten', '20', 'Enter a number'],
  ['10', '1,5', 'Enter a number'],
  ['21', '20', 'at most the hard one'],
])('%j and %j are none', (soft, hard, fault) => {
  expect(thresholdsOf(soft, hard)).toEqual({ fault: expect.stringContaining(fault) });
});
