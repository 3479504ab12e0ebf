import ipaddr from 'ipaddr.js';
import { type Environment, splitEnvironment } from '../../schemas/primitives/environment.ts';
import { isPublicAddress } from './public-address.ts';

/**
 * The targets of webhooks in addition to public addresses over https. `none`: nothing. `loopback`: http and
 * https to 127.0.0.0/8 and ::1, of test-mode environments alone. `all`: http, and every address that is not
 * link-local or one of a cloud's metadata service.
 */
export type PrivateTargets = 'none' | 'loopback' | 'all';

/** Of one environment: live events never go to the loopback address by default. */
export function targetsOf(configured: PrivateTargets, environment: Environment): PrivateTargets {
  return configured === 'loopback' && splitEnvironment(environment).mode === 'live' ? 'none' : configured;
}

/** Whether an IPv4 or IPv6 literal (without brackets) may be connected to. */
export function mayConnectTo(literal: string, targets: PrivateTargets): boolean {
  if (!ipaddr.isValid(literal) || /* mutant: metadata-where-private-is-allowed */ isNeverReached(literal))
    return false;
  if (isPublicAddress(literal) || targets === 'all') return true;
  return targets === 'loopback' && isLoopbackAddress(literal);
}

/** Of a url, without brackets: an address of it, or a name for it. */
export function isLoopbackHost(host: string): boolean {
  return ipaddr.isValid(host) ? isLoopbackAddress(host) : isLoopbackName(host);
}

function isLoopbackAddress(literal: string): boolean {
  return ipaddr.process(literal).range() === 'loopback';
}

/** `localhost` and every name under it is loopback, whatever a resolver returns (RFC 6761, 6.3). */
export function isLoopbackName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

/** What such a name leads to. */
export const LOOPBACK_ADDRESSES: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Link-local addresses and those of metadata services, which give away the credentials of a whole machine:
 * AWS, GCP, Azure and most others at 169.254.169.254, AWS and GCP over IPv6, Alibaba, Oracle's older one,
 * Azure's wire server, which counts as public. In every form that reaches them over IPv6 as well.
 */
function isNeverReached(literal: string): boolean {
  const address = ipaddr.process(literal);
  if (isForbidden(address)) return true;
  return address instanceof ipaddr.IPv6 && embedded(address).some(isForbidden);
}

const FORBIDDEN = [
  '169.254.0.0/16',
  '100.100.100.200/32',
  '192.0.0.192/32',
  '168.63.129.16/32',
  'fe80::/10',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
].map((range) => ipaddr.parseCIDR(range));

function isForbidden(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return FORBIDDEN.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/**
 * Every IPv4 address that a translator or tunnel may read out of an IPv6 one. Mapped, compatible, SIIT, NAT64
 * and ISATAP keep it at the end, 6to4 behind 2002, Teredo inverted at the end and its server's in front;
 * prefixes of a local NAT64 (64:ff9b:1::/48) are of several lengths, with a byte left out in the middle (RFC
 * 6052). A position without an address yields a meaningless one: to reject it is the safe side, but not for
 * the end of assigned addresses, where one of 65,536 would look link-local by chance.
 */
function embedded(address: ipaddr.IPv6): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  const at = (...places: number[]) => new ipaddr.IPv4(places.map((place) => bytes[place] ?? 0));
  const beginsWith = (...start: number[]) => start.every((byte, place) => bytes[place] === byte);
  if (beginsWith(0x20, 0x02)) return [at(2, 3, 4, 5)];
  if (beginsWith(0x20, 0x01, 0, 0)) {
    return [at(4, 5, 6, 7), new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))];
  }
  const isIsatap =
    (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
  const atEnd = isIsatap || !isPublicAddress(address.toString()) ? [at(12, 13, 14, 15)] : [];
  if (!beginsWith(0, 0x64, 0xff, 0x9b)) return atEnd;
  return [...atEnd, at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12)];
}
