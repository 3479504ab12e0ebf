import { describe, expect, it } from 'vitest';
import { looksLikeCustomerToken, readCustomerToken, signCustomerToken } from './customer-token.ts';

/*
 * Red when the signature is not compared, covers the claims without the mode before them, or is compared once
 * decoded: four texts, which differ in two bits of the last character, decode to the same bytes.
 */
const key = Buffer.alloc(32, 1);
const claims = {
  environment: 'ws_aaaaaaaaaaaaaaaaaaaaaaaaaa:live',
  customerId: 'cus_bbbbbbbbbbbbbbbbbbbbbbbbbb',
  keyId: 'key_cccccccccccccccccccccccccc',
  expiresAtMs: 1_800_000_000_000,
};
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const token = signCustomerToken(claims, key);

describe('a customer token', () => {
  it('states its mode, fits in a header, and is read under the key that signed it', () => {
    expect(token).toMatch(/^ct_live_[\w-]+\.[\w-]{43}$/);
    expect(token.length).toBeLessThan(300);
    expect(looksLikeCustomerToken(token)).toBe(true);
    expect(readCustomerToken(token, key)).toEqual(claims);
    const test = { ...claims, environment: 'ws_aaaaaaaaaaaaaaaaaaaaaaaaaa:test' };
    expect(signCustomerToken(test, key)).toMatch(/^ct_test_/);
  });

  it('is not read with any character changed, under another key, or in another form', () => {
    for (let at = 0; at < token.length; at += 1) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(readCustomerToken(changed, key), String(at)).toBeUndefined();
    }
    const endings = [...BASE64URL].map((last) => token.slice(0, -1) + last);
    expect(endings.filter((text) => readCustomerToken(text, key))).toEqual([token]);
    expect(readCustomerToken(token, Buffer.alloc(32, 2))).toBeUndefined();
    expect(readCustomerToken(token.replace('_live_', '_test_'), key)).toBeUndefined();
    const others = ['', 'ct_', 'ct_live_.', `${token}x`, ` ${token}`, token.replace('.', ''), 'sk_live_x'];
    for (const other of others) expect(readCustomerToken(other, key)).toBeUndefined();
  });
});
