import { isIP } from 'node:net';
import { isPublicAddress } from '../infra/public-address.ts';
import { Rejected } from '../schemas/failures.ts';

/**
 * Refuses a url to which no event is ever sent. Names are not resolved: what they point to is looked at with
 * each delivery. WHATWG parsing has read 0x7f.1, 2130706433 and 0177.0.0.1 as the addresses that they are.
 */
export function checkWebhookUrl(text: string, { allowPrivate }: { allowPrivate: boolean }): void {
  if (!PLAIN.test(text) || !URL.canParse(text)) throw refused('must be an absolute URL');
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' && allowPrivate;
  if (!isHttp && url.protocol !== 'https:') throw refused('must begin with https://');
  if (CREDENTIALS.test(text)) throw refused('must not carry credentials');
  if (url.port === '0') throw refused('must have a port that can be connected to');
  if (!allowPrivate && isPrivate(url.hostname)) throw refused('must lead to a public address');
}

/**
 * The parser would drop blanks and control characters without a word, and reads other slashes, fewer or more
 * of them, as the two that it wants: what other parsers read otherwise has no place in a registration.
 */
const PLAIN = /^[a-z]+:\/\/[^/\\\s\p{Cc}][^\\\s\p{Cc}]*$/iu;

/** Also empty ones, of which the parser tells nothing. */
const CREDENTIALS = /^[a-z]+:\/\/[^/?#]*@/i;

function isPrivate(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0) return !isPublicAddress(literal);
  return /(^|\.)localhost\.?$/.test(hostname); // RFC 6761: loopback, whatever a resolver says
}

function refused(reason: string): Rejected {
  return new Rejected('invalid_request', `\`url\` ${reason}.`, { param: 'url' });
}
