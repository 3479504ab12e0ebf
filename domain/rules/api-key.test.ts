import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newApiKey, parseApiKey } from './api-key.ts';

const kinds = fc.constantFrom('secret' as const, 'publishable' as const);
const modes = fc.constantFrom('live' as const, 'test' as const);
const characters = fc.constantFrom(...'0123456789ABCXYZabcxyz_');

test('a new key has the shape of the contract and states its kind and mode', () => {
  fc.assert(
    fc.property(kinds, modes, (kind, mode) => {
      const key = newApiKey(kind, mode);
      expect(key).toMatch(/^[sp]k_(live|test)_[0-9A-Za-z]{38}$/);
      expect(parseApiKey(key)).toEqual({ kind, mode });
    }),
  );
});

test('a checksum that was worked out elsewhere is accepted', () => {
  // zlib.crc32(b'sk_live_' + b'a' * 32) = 0xE263D3DF in Python, in base62.
  expect(parseApiKey(`sk_live_${'a'.repeat(32)}492pXL`)).toEqual({ kind: 'secret', mode: 'live' });
});

/** Red when the checksum is not compared. */
test('one wrong character is noticed, wherever it is', () => {
  fc.assert(
    fc.property(kinds, modes, fc.nat(45), characters, (kind, mode, at, character) => {
      const key = newApiKey(kind, mode);
      const wrong = key.slice(0, at) + character + key.slice(at + 1);
      expect(parseApiKey(wrong) === undefined).toBe(wrong !== key);
    }),
    { numRuns: 1_000 },
  );
});

test('any other text is no key', () => {
  fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => parseApiKey(text) === undefined));
});
