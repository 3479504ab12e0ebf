import { expect, test } from 'vitest';
import { appliedPreferences, readPreferences } from './preferences.ts';

test.each([
  [undefined, undefined],
  ['', undefined],
  ['return=minimal', undefined],
  ['handling=strict', 'handling=strict'],
  [' Handling = "Strict" ; x=1', 'handling=strict'],
  ['numbers=text', 'numbers=text'],
  ['handling=strict, numbers=text', 'handling=strict, numbers=text'],
  ['numbers=text;q="a,b", handling=strict', 'handling=strict, numbers=text'],
  ['wait=10, numbers="text",respond-async,handling=strict', 'handling=strict, numbers=text'],
  ['handling=lenient, handling=strict', undefined],
  ['x="handling=strict, numbers=text"', undefined],
  ['handling=stricter, numbers=texts', undefined],
  ['handling', undefined],
  [',,;=, handling=strict', 'handling=strict'],
])('Prefer: %s applies %s', (header, applied) => {
  expect(appliedPreferences(readPreferences(header))).toBe(applied);
});

/** Red when the expression looks back: a header has at most 16 KiB. */
test('a long header costs no time', () => {
  const started = performance.now();
  for (const piece of ['a=', '"', 'a"', '=', ' ', 'a;', 'a ', ',"']) readPreferences(piece.repeat(8_192));
  expect(performance.now() - started).toBeLessThan(1_000);
});
