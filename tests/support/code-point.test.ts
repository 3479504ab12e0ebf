import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CODE_POINT } from './code-point.ts';

/** Red when the surrogates are not left out, or more than them. */
it('a unit of texts is any character, and never half of one', () => {
  const characters = fc.sample(CODE_POINT, { numRuns: 5_000, seed: 20261126 });
  expect(characters.filter((one) => !one.isWellFormed() || [...one].length !== 1)).toEqual([]);
  for (const edge of ['\u0000', '\ud7ff', '\ue000', '\u{10ffff}']) {
    expect(CODE_POINT.canShrinkWithoutContext(edge)).toBe(true);
  }
  for (const other of ['', 'ab', '\ud800', '\udfff']) {
    expect(CODE_POINT.canShrinkWithoutContext(other)).toBe(false);
  }
});
