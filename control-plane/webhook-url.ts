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
  if (url.username !== '' || url.password !== '') throw refused('must not carry credentials');
  if (!allowPrivate && isPrivate(url.hostname)) throw refused('must lead to a public address');
}

/** The parser would drop blanks and control characters without a word. */
const PLAIN = /^[^\s\p{Cc}]+$/u;

function isPrivate(hostname: string): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) !== 0) return !isPublicAddress(literal);
  return /(^|\.)localhost\.?$/.test(hostname); // RFC 6761: loopback, whatever a resolver says
}

function refused(reason: string): Rejected {
  return new Rejected('invalid_request', `\`url\` ${reason}.`, { param: 'url' });
}
