import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32c } from './crc32c.ts';

// RFC 3720, B.4, and the check value of the catalogue of CRCs.
test.each([
  ['32 bytes of zero', Buffer.alloc(32), 0x8a9136aa],
  ['32 bytes of ones', Buffer.alloc(32, 0xff), 0x62a8ab43],
  ['32 bytes that count up', Buffer.from([...Array(32).keys()]), 0x46dd794e],
  ['nine digits', Buffer.from('123456789'), 0xe3069283],
  ['nothing', Buffer.alloc(0), 0],
])('of %s is what is published', (_, bytes, expected) => {
  expect(crc32c([bytes])).toBe(expected);
});

test('of pieces is that of the whole, wherever it is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
      expect(crc32c(pieces)).toBe(crc32c([Buffer.concat(pieces)]));
    }),
  );
});
