import { expect, it } from 'vitest';
import { isPublicAddress } from './public-address.ts';

/*
 * Red when only the ranges `private` and `loopback` are rejected, and when `process` is left out: a public
 * address that is mapped into IPv6 is then none. Red when all that is called unicast is public.
 */
const INSIDE = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.168.0.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::a00:1',
  '4000::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::7f00:1',
  '64:ff9b:1::a00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  'fd00:ec2::254',
];

it.each(INSIDE)('%s is not public', (address) => {
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
