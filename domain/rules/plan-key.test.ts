import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CODE_POINT } from '../../tests/support/code-point.ts';
import { planKeys } from './plan-key.ts';

/*
 * Mutants that turn it red: no fallback for a name without ASCII; a slug cut at its `-`; a repeated number.
 */

function firstKeys(name: string, count: number): string[] {
  let made = 0;
  const keys = planKeys(name, () => `r${++made}`);
  return Array.from({ length: count }, () => keys.next().value);
}

it.each([
  ['Pro', 'pro'],
  ['  Pro+ (2026) ', 'pro-2026'],
  ['Größe Ünïted — Łódź & co.', 'grosse-united-lodz-co'],
  ['ﬁrst Ⅳ', 'first-iv'],
  ['团队 Team', 'team'],
  ['团队', 'plan'],
  ['💡', 'plan'],
  ['..', 'plan'],
  ['__proto__', 'proto'],
  ['plan_abc', 'plan-abc'],
  [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
])('the key of %s is %s', (name, key) => {
  expect(firstKeys(name, 1)).toEqual([key]);
});

it('whatever the name, every key is usable as it is, and none comes twice', () => {
  const names = fc.oneof(
    fc.string({ unit: CODE_POINT, minLength: 1, maxLength: 200 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('a', 'B', '-', ' ', '9', 'é', '_'), minLength: 1, maxLength: 200 }),
  );
  fc.assert(
    fc.property(names, (name) => {
      const keys = firstKeys(name, 12);
      expect(new Set(keys).size).toBe(12);
      for (const key of keys) {
        expect(key).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
        expect(key.length).toBeLessThanOrEqual(80);
      }
    }),
    { numRuns: 2_000 },
  );
});
