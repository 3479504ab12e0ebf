import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CODE_POINT } from '../../tests/support/code-point.ts';
import { isSignedBy } from './verify-signature.ts';

/*
 * Signed here by hand, as Stripe's documentation describes it, and not with the package that verifies.
 *
 * Mutants this suite catches: the future not checked; the last of two times used; the tolerance left out.
 */
const NOW_MS = Date.UTC(2026, 0, 1);
const SECRET = 'whsec_abc';

function signed(body: string, { secret = SECRET, atMs = NOW_MS } = {}): string {
  const seconds = Math.floor(atMs / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

const accepts = (body: string, header: string, secret = SECRET) =>
  isSignedBy({ body, header, secret, nowMs: NOW_MS });

describe('a signed call', () => {
  it('is accepted with any body, and not when one bit of body or signature differs', async () => {
    const one = fc.record({ body: fc.string({ unit: CODE_POINT, minLength: 1 }), flip: fc.nat() });
    await fc.assert(
      fc.asyncProperty(one, async ({ body, flip }) => {
        const header = signed(body);
        expect(await accepts(body, header)).toBe(true);
        const bytes = Buffer.from(body);
        bytes.writeUInt8((bytes.readUInt8(flip % bytes.length) ^ 1) & 0x7f, flip % bytes.length);
        const other = bytes.toString();
        if (other !== body) expect(await accepts(other, header)).toBe(false);
        const at = header.indexOf('v1=') + 3 + (flip % 64);
        const digit = header[at] === '0' ? '1' : '0';
        expect(await accepts(body, header.slice(0, at) + digit + header.slice(at + 1))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('is taken for five minutes before and after, and no longer', async () => {
    const at = (offsetMs: number) => accepts('{}', signed('{}', { atMs: NOW_MS + offsetMs }));
    expect(await Promise.all([-300_000, -1000, 0, 1000, 300_000].map(at))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    const beyond = [-301_000, -86_400_000, 301_000, 86_400_000, 3e13];
    expect(await Promise.all(beyond.map(at))).toEqual(Array(5).fill(false));
  });

  it('is taken when one of its signatures is right, as while a secret is rolled', async () => {
    const [t, right] = signed('{}').split(',');
    expect(await accepts('{}', `${t},v1=${'0'.repeat(64)},${right}`)).toBe(true);
    expect(await accepts('{}', `${t},v0=${right?.slice(3)}`)).toBe(false);
  });

  it('is not taken under another secret, or an empty one', async () => {
    expect(await accepts('{}', signed('{}', { secret: 'other' }))).toBe(false);
    expect(await accepts('{}', signed('{}', { secret: '' }), '')).toBe(false);
  });

  it.each([
    '',
    't=1',
    'v1=00',
    't=,v1=00',
    't=x,v1=00',
    't=1e3,v1=00',
    `t=${'9'.repeat(400)},v1=00`,
    ',,,===',
    `\u0000${signed('{}')}`,
    `t=9999999999,${signed('{}')}`,
    `${signed('{}')},t=1`,
    `${signed('{}')},t`,
    '漢字',
  ])('is not accepted, and nothing crashes, with the header %j', async (header) => {
    expect(await accepts('{}', header)).toBe(false);
  });
});
