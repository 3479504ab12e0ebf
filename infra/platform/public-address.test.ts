import { expect, it } from 'vitest';
import { INTERNAL_ADDRESSES } from './internal-addresses-under-test.ts';
import { isPublicAddress } from './public-address.ts';

/*
 * Red when only the ranges `private` and `loopback` are rejected, and when `process` is left out: a public
 * address that is mapped into IPv6 is then none. Red when all that is called unicast is public.
 */
it.each(INTERNAL_ADDRESSES)('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

it.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '192.169.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'])(
  '%s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

it.each(['', 'localhost', 'example.com', '[::1]', '1.1.1.1.'])('%j is no address', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});
