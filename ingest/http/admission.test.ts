import { expect, test } from 'vitest';
import { createAdmission } from './admission.ts';

const MEBIBYTE = 1024 * 1024;

/** Red when the bound is not looked at: then what is in flight grows until memory is used up. */
test('bytes are taken up to the bound, and a rejection takes nothing', () => {
  const admission = createAdmission(2 * MEBIBYTE);
  const sizes = [MEBIBYTE, MEBIBYTE + 1, MEBIBYTE, 1];
  expect(sizes.map((bytes) => admission.take('a', bytes))).toEqual([true, false, true, false]);
  expect(admission.held).toBe(2 * MEBIBYTE);
  admission.give('a', MEBIBYTE);
  expect([admission.take('b', MEBIBYTE + 1), admission.take('b', MEBIBYTE)]).toEqual([false, true]);
});

/** Red without shares: 70 bodies of one key that stall took all 64 MiB, and every other key got a 503. */
test('an environment that stalls leaves the others room for their largest requests', () => {
  const admission = createAdmission(64 * MEBIBYTE);
  const stalled = Array.from({ length: 70 }, () => admission.take('a', MEBIBYTE)).filter(Boolean);
  expect(stalled).toHaveLength(32);
  const others = Array.from({ length: 8 }, () => admission.take('b', 2 * MEBIBYTE));
  expect(others).not.toContain(false);
});
