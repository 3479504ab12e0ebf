import { SENT_METHOD } from '../../infra/platform/sent-method.ts';
import type { Exchange } from '../../infra/ports/http-front.ts';

/**
 * A name that HTTP does not know is the caller's own, and none that the control plane reads. The older native
 * parser gives DEL for `_`.
 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The caller's headers for the control plane, name and value in turn, with the request id decided here. */
export function requestHeaders(exchange: Exchange): string[] {
  const dropped = connectionNames(exchange.headers.get('connection'));
  const forwarded: string[] = ['x-request-id', exchange.requestId];
  for (const [name, value] of exchange.headers) {
    if (NOT_PASSED_ON.has(name) || dropped.has(name) || !TOKEN.test(name)) continue;
    // An Idempotency-Key that came twice is passed on twice (request-head.ts).
    if (value.includes('\n')) for (const one of value.split('\n')) forwarded.push(name, asBytes(one));
    else forwarded.push(name, asBytes(value));
  }
  return forwarded;
}

/** The control plane's headers for the caller, without those that belong to a connection or to the front. */
export function responseHeaders(
  headers: Record<string, string | string[] | undefined>,
): Array<[string, string]> {
  const dropped = connectionNames(headers.connection);
  const kept: Array<[string, string]> = [];
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || HOP_BY_HOP.has(name) || FRONTS_OWN.has(name) || dropped.has(name)) continue;
    if (typeof value === 'string') kept.push([name, value]);
    else for (const one of value) kept.push([name, one]);
  }
  return kept;
}

/** Path and query; undefined when they hold what HTTP does not allow in a request line. */
export function forwardableTarget({ path, query }: Exchange): string | undefined {
  const target = query === '' ? path : `${path}?${query}`;
  return NOT_IN_A_TARGET.test(target) ? undefined : target;
}

/** RFC 9110, 7.6.1; `expect` is handled by the front. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** The request id is decided here; the length is that of what is sent on, which undici writes. */
const NOT_PASSED_ON = new Set([...HOP_BY_HOP, 'x-request-id', 'content-length', SENT_METHOD]);

/** The front sets these on every response itself. */
const FRONTS_OWN = new Set(['x-api-version', 'x-request-id', 'x-content-type-options', 'date']);

const NOT_IN_A_TARGET = /[^\x21-\x7e]/;

const NONE: ReadonlySet<string> = new Set();

/** Header names that a Connection header makes part of the connection. */
function connectionNames(value: string | string[] | undefined): ReadonlySet<string> {
  if (value === undefined) return NONE;
  return new Set([value].flat().flatMap((one) => one.split(',').map((name) => name.trim().toLowerCase())));
}

/** Our texts are UTF-8; what is on the wire is a character per byte. */
function asBytes(value: string): string {
  return BEYOND_ASCII.test(value) ? Buffer.from(value).toString('latin1') : value;
}

const BEYOND_ASCII = /[^\x20-\x7e\t]/;
