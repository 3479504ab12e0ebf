import { expect, test } from 'vitest';
import { createAdmission } from './admission.ts';

/** Red when the bound is not looked at: then what is in flight grows until memory is gone. */
test('bytes are taken up to the bound, and a refusal takes nothing', () => {
  const admission = createAdmission(100);
  expect([admission.take(60), admission.take(41), admission.take(40), admission.take(1)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(admission.inFlightBytes).toBe(100);
  admission.give(60);
  expect([admission.take(61), admission.take(60)]).toEqual([false, true]);
});
