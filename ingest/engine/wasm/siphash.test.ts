import fc from 'fast-check';
import { expect, test } from 'vitest';
import { base32 } from '../../../schemas/primitives/ids.ts';
import { USAGE_LIMITS } from '../../../schemas/usage-limits.ts';
import { canonicalProperties } from '../js/properties.ts';
import { createIdentifier } from './siphash.ts';

const MASK = (1n << 64n) - 1n;
const KEY = Uint8Array.from({ length: 16 }, (_, at) => at);

/** SipHash-2-4 as the paper writes it (Aumasson and Bernstein, 2012), with 64 or 128 bits of output. */
function sipHash(key: Uint8Array, input: Uint8Array, outputBytes: 8 | 16): Buffer {
  const [k0, k1] = [wordAt(key, 0), wordAt(key, 8)];
  const v = [
    k0 ^ 0x736f6d6570736575n,
    k1 ^ 0x646f72616e646f6dn,
    k0 ^ 0x6c7967656e657261n,
    k1 ^ 0x7465646279746573n,
  ];
  if (outputBytes === 16) v[1] = v1(v) ^ 0xeen;
  const padded = Buffer.alloc(Math.floor(input.length / 8) * 8 + 8);
  padded.set(input);
  padded[padded.length - 1] = input.length & 255;
  for (let at = 0; at < padded.length; at += 8) {
    const word = wordAt(padded, at);
    v[3] = (v[3] ?? 0n) ^ word;
    rounds(v, 2);
    v[0] = (v[0] ?? 0n) ^ word;
  }
  v[2] = (v[2] ?? 0n) ^ (outputBytes === 16 ? 0xeen : 0xffn);
  const output = Buffer.alloc(outputBytes);
  output.writeBigUInt64LE(finish(v), 0);
  if (outputBytes === 8) return output;
  v[1] = v1(v) ^ 0xddn;
  output.writeBigUInt64LE(finish(v), 8);
  return output;
}

const v1 = (v: bigint[]) => v[1] ?? 0n;
const rotate = (word: bigint, by: bigint) => ((word << by) | (word >> (64n - by))) & MASK;

function rounds(v: bigint[], count: number): void {
  let [a = 0n, b = 0n, c = 0n, d = 0n] = v;
  for (let round = 0; round < count; round++) {
    a = (a + b) & MASK;
    b = rotate(b, 13n) ^ a;
    a = rotate(a, 32n);
    c = (c + d) & MASK;
    d = rotate(d, 16n) ^ c;
    a = (a + d) & MASK;
    d = rotate(d, 21n) ^ a;
    c = (c + b) & MASK;
    b = rotate(b, 17n) ^ c;
    c = rotate(c, 32n);
  }
  v.splice(0, 4, a, b, c, d);
}

function finish(v: bigint[]): bigint {
  rounds(v, 4);
  return v.reduce((a, b) => a ^ b);
}

function wordAt(bytes: Uint8Array, at: number): bigint {
  return Buffer.from(bytes).readBigUInt64LE(at);
}

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

test('the oracle gives the vectors of the reference implementation', () => {
  const input = (length: number) => Uint8Array.from({ length }, (_, at) => at);
  // vectors.h of the reference implementation: 64 bits for 0, 1 and 15 bytes, 128 bits for 0, 1 and 15.
  expect(sipHash(KEY, input(0), 8).toString('hex')).toBe('310e0edd47db6f72');
  expect(sipHash(KEY, input(1), 8).toString('hex')).toBe('fd67dc93c539f874');
  expect(sipHash(KEY, input(15), 8).toString('hex')).toBe('e545be4961ca29a1');
  expect(sipHash(KEY, input(0), 16).toString('hex')).toBe('a3817f04ba25a8e66df67214c7550293');
  expect(sipHash(KEY, input(1), 16).toString('hex')).toBe('da87c1d86b99af44347659119b22fc45');
});

/** Red when a byte of a key or text is not hashed, or one spills into the other. */
test('id and fingerprint are SipHash-2-4 of key and text, for every length', () => {
  const keys = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const texts = fc.string({ unit: 'binary', maxLength: 80 }).map((text) => text.toWellFormed());
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
