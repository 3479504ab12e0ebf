import { expect, test } from 'vitest';
import { sipHash } from './sip-hash.ts';

const KEY = Uint8Array.from({ length: 16 }, (_, at) => at);

test('gives the vectors of the reference implementation', () => {
  const input = (length: number) => Uint8Array.from({ length }, (_, at) => at);
  // vectors.h of the reference implementation: 64 bits for 0, 1 and 15 bytes, 128 bits for 0, 1 and 15.
  expect(sipHash(KEY, input(0), 8).toString('hex')).toBe('310e0edd47db6f72');
  expect(sipHash(KEY, input(1), 8).toString('hex')).toBe('fd67dc93c539f874');
  expect(sipHash(KEY, input(15), 8).toString('hex')).toBe('e545be4961ca29a1');
  expect(sipHash(KEY, input(0), 16).toString('hex')).toBe('a3817f04ba25a8e66df67214c7550293');
  expect(sipHash(KEY, input(1), 16).toString('hex')).toBe('da87c1d86b99af44347659119b22fc45');
});
