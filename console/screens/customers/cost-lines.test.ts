import { expect, it } from 'vitest';
import { isEmptyLine } from './cost-lines.ts';

/** Red when a moment of an earlier period shows as a line of zeros, or when what is charged is left out. */
it('leaves out lines of nothing alone', () => {
  expect(isEmptyLine({ amount: '0.00', quantity: '0' })).toBe(true);
  expect(isEmptyLine({ amount: '49.00', quantity: '0' })).toBe(false);
  expect(isEmptyLine({ amount: '0', quantity: '5000' })).toBe(false);
});
