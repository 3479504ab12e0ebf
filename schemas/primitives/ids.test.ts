import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base32, fromBase32, ID_PREFIXES, newId } from './ids.ts';

const sixteenBytes = fc.uint8Array({ minLength: 16, maxLength: 16 });

/** 128 bits as 26 digits of base 32, the last of them shifted up by two bits. */
function oracle(bytes: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`) << 2n;
  let text = '';
  for (let digit = 0; digit < 26; digit++) {
    text = 'abcdefghijklmnopqrstuvwxyz234567'.charAt(Number(number & 31n)) + text;
    number >>= 5n;
  }
  return text;
}

test('an id is its prefix and 26 characters of lower-case base32', () => {
  for (const prefix of ID_PREFIXES) expect(newId(prefix)).toMatch(new RegExp(`^${prefix}_[a-z2-7]{26}$`));
});

test('no two new ids are alike', () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newId('use'))).size).toBe(10_000);
});

test('base32 is that of RFC 4648, without padding', () => {
  expect(base32(Buffer.from('foobar'))).toBe('mzxw6ytboi');
  expect(base32(Buffer.from('foo'))).toBe('mzxw6');
  expect(base32(new Uint8Array())).toBe('');
  fc.assert(
    fc.property(sixteenBytes, (bytes) => {
      expect(base32(bytes)).toBe(oracle(bytes));
    }),
  );
});

test('an id turns back into its bytes', () => {
  fc.assert(
    fc.property(sixteenBytes, (bytes) => {
      expect(fromBase32(base32(bytes))).toEqual(bytes);
    }),
  );
});

test('what is no id has no bytes', () => {
  const sound = 'a'.repeat(26);
  for (const text of ['', 'a'.repeat(25), 'a'.repeat(27), `${'a'.repeat(25)}1`, sound.toUpperCase(), '=']) {
    expect(fromBase32(text)).toBeUndefined();
  }
});
