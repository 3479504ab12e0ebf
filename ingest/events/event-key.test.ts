import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventKey } from './event-key.ts';

test('a key shows what it is made of, and a long one is a hash', () => {
  expect(eventKey({ source: '/orders', id: 'o-1' }, 'tokens')).toBe('ce:7:3:/orders:o-1:tokens');
  expect(eventKey({ source: 's'.repeat(250), id: 'o-1' }, 'tokens')).toMatch(/^ce:sha256:[0-9a-f]{64}$/);
  expect(eventKey({ source: 'a\u0085', id: 'o-1' }, 'tokens')).toMatch(/^ce:sha256:/);
});

/** Red when a separator is all there is between them. */
test('different events have different keys', () => {
  const text = fc.string({ unit: fc.constantFrom(':', '1', 'a', ' '), minLength: 1, maxLength: 6 });
  const event = fc.tuple(text, text, text);
  const keyOf = ([source, id, meter]: [string, string, string]) => eventKey({ source, id }, meter);
  fc.assert(
    fc.property(event, event, (one, other) => {
      expect(keyOf(one) === keyOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
});
