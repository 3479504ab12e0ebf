import ipaddr from 'ipaddr.js';

/**
 * Whether an IPv4 or IPv6 literal (without brackets) is of the public internet. Loopback, private,
 * link-local, shared, reserved, multicast and translated ranges (NAT64, 6to4, Teredo) are not; an address
 * mapped into IPv6 is what is mapped. Of the packages tried with 45 addresses `ip` and `private-ip` let
 * internal ones through, this one did not.
 */
export function isPublicAddress(literal: string): boolean {
  return ipaddr.isValid(literal) && ipaddr.process(literal).range() === 'unicast';
}
