import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sipHash } from '../../../domain/rules/sip-hash.ts';
import { base32 } from '../../../schemas/primitives/ids.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import { CODE_POINT } from '../../../tests/support/code-point.ts';
import { canonicalProperties } from '../js/properties.ts';
import { createIdentifier } from './siphash.ts';

/** Id and fingerprint as the identifier gives them: text and record words must agree. */
function identify(
  key: Uint8Array,
  idempotencyKey: string,
  text: string,
): { id: Buffer; fingerprint: bigint } {
  const identifier = createIdentifier();
  identifier.setKey(key);
  const columns = identifier.identify(idempotencyKey, text);
  const records = new Uint32Array(10);
  identifier.copyTo(records, 2);
  expect([records[0], records[1], records[8], records[9]]).toEqual([0, 0, 0, 0]);
  const id = Buffer.from(records.buffer, 8, 16);
  const fingerprint = Buffer.from(records.buffer).readBigUInt64LE(24);
  expect(columns).toBe(`use_${base32(id)}","${fingerprint}`);
  return { id, fingerprint };
}

/** Red when a byte of a key or text is not hashed, or one spills into the other. */
test('id and fingerprint are SipHash-2-4 of key and text, for every length', () => {
  const keys = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const texts = fc.string({ unit: CODE_POINT, maxLength: 80 }).map((text) => text.toWellFormed());
  const idempotencyKeys = texts.map((text) => text.replaceAll('\u0000', '')); // none holds U+0000
  fc.assert(
    fc.property(keys, idempotencyKeys, texts, (key, idempotencyKey, text) => {
      const { id, fingerprint } = identify(key, idempotencyKey, text);
      expect(id).toEqual(sipHash(key.subarray(0, 16), Buffer.from(idempotencyKey), 16));
      expect(fingerprint).toBe(sipHash(key.subarray(16), Buffer.from(text), 8).readBigUInt64LE(0));
    }),
    { numRuns: 500, seed: 20261121 },
  );
});

/** Red when the input area is smaller than the largest event: then the end of its text is not hashed. */
test.each([
  ['control characters, six bytes each', '\u0001'],
  ['three bytes of UTF-8 each', '\uffff'],
  ['pairs of surrogates', '\u{1f600}'],
  ['quotes', '"'],
])('the largest event of %s is hashed to its last byte', (_, character) => {
  const fill = (chars: number) => character.repeat(Math.floor(chars / character.length));
  const { propertiesMax, propertyKeyCharsMax, propertyValueCharsMax, idCharsMax } = USAGE_LIMITS;
  const keyOf = (at: number) => String(at).padStart(2, '0') + fill(propertyKeyCharsMax - 2);
  const members = Array.from({ length: propertiesMax }, (_, at) => [keyOf(at), fill(propertyValueCharsMax)]);
  const properties = canonicalProperties(Object.fromEntries(members));
  if ('code' in properties) throw new Error('the properties are within their limits');
  const names = `?${fill(idCharsMax)}\u0000${fill(idCharsMax)}\u0000`;
  const text = `${names}-123456789012345.123456789012\u0000${properties.json}`;
  const longestKey = fill(USAGE_LIMITS.idempotencyKeyCharsMax);
  const key = Buffer.alloc(32, 3);
  const { fingerprint } = identify(key, longestKey, text);
  expect(fingerprint).toBe(sipHash(key.subarray(16), Buffer.from(text), 8).readBigUInt64LE(0));
  // Half of the 126,976 bytes at most: the worst is 32 × 64 + 256 control characters, 63 KB.
  expect(Buffer.byteLength(longestKey + text)).toBeLessThan(65_536);
});
