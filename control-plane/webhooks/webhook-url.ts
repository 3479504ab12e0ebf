import { isIP } from 'node:net';
import { parseUrl } from '../../infra/platform/parse-url.ts';
import {
  isLoopbackHost,
  isLoopbackName,
  mayConnectTo,
  type PrivateTargets,
} from '../../infra/platform/private-targets.ts';
import { Rejected } from '../../schemas/failures.ts';

/**
 * Rejects a url to which no event is ever sent. Names are not resolved: each delivery checks the address that
 * they point to. WHATWG parsing has read 0x7f.1, 2130706433 and 0177.0.0.1 as the addresses that they are.
 */
export function checkWebhookUrl(text: string, targets: PrivateTargets): void {
  const url = PLAIN.test(text) ? parseUrl(text) : undefined;
  if (!url) throw rejected('must be an absolute URL');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!isProtocolTaken(url.protocol, host, targets)) throw rejected(MUST_BE[targets]);
  if (CREDENTIALS.test(text)) throw rejected('must not contain credentials');
  if (url.port === '0') throw rejected('must have a port that can be connected to');
  if (!isHostTaken(host, targets)) throw rejected('must have a public host');
}

const MUST_BE: Record<PrivateTargets, string> = {
  none: 'must begin with https://',
  loopback: 'must begin with https://, or be http:// to a loopback address',
  all: 'must begin with https:// or http://',
};

function isProtocolTaken(protocol: string, host: string, targets: PrivateTargets): boolean {
  if (protocol === 'https:') return true;
  return protocol === 'http:' && (targets === 'all' || (targets === 'loopback' && isLoopbackHost(host)));
}

function isHostTaken(host: string, targets: PrivateTargets): boolean {
  if (isIP(host) !== 0) return mayConnectTo(host, targets);
  return !isLoopbackName(host) || targets !== 'none';
}

/**
 * The parser silently drops blanks and control characters, and reads other slashes, more or fewer, as two. A
 * url that other parsers read differently is not accepted.
 */
const PLAIN = /^[a-z]+:\/\/[^/\\\s\p{Cc}][^\\\s\p{Cc}]*$/iu;

/** Also empty ones, which the parser does not report. */
const CREDENTIALS = /^[a-z]+:\/\/[^/?#]*@/i;

function rejected(reason: string): Rejected {
  return new Rejected('invalid_request', `\`url\` ${reason}.`, { param: 'url' });
}
