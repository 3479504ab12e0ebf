import type { Exchange } from '../infra/ports/http-front.ts';

/**
 * A name that HTTP does not know is the caller's own, and none that the control plane reads. The older native
 * parser gives DEL for `_`.
 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The caller's headers for the control plane, name and value in turn, with the request id decided here. */
export function requestHeaders(exchange: Exchange): string[] {
  const dropped = new Set(connectionNames(exchange.headers.get('connection')));
  const forwarded: string[] = ['x-request-id', exchange.requestId];
  for (const [name, value] of exchange.headers) {
    if (HOP_BY_HOP.has(name) || dropped.has(name) || name === 'x-request-id') continue;
    // As long as what is sent on, of which the client of the control plane says the length.
    if (name === 'content-length') continue;
    if (!TOKEN.test(name)) continue;
    // An Idempotency-Key that came twice is passed on twice (request-head.ts).
    for (const one of value.split('\n')) forwarded.push(name, asBytes(one));
  }
  return forwarded;
}

/** The control plane's headers for the caller, without those that belong to a connection or to the front. */
export function answerHeaders(
  headers: Record<string, string | string[] | undefined>,
): Array<[string, string]> {
  const dropped = new Set(connectionNames(headers.connection));
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined || HOP_BY_HOP.has(name) || FRONTS_OWN.has(name) || dropped.has(name)) return [];
    return [value].flat().map((one): [string, string] => [name, one]);
  });
}

/** Path and query; undefined when they hold what HTTP does not allow in a request line. */
export function forwardableTarget({ path, query }: Exchange): string | undefined {
  const target = query === '' ? path : `${path}?${query}`;
  return NOT_IN_A_TARGET.test(target) ? undefined : target;
}

/** RFC 9110, 7.6.1; `expect` was answered by the front. */
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

/** The front puts these on every answer itself. */
const FRONTS_OWN = new Set(['x-api-version', 'x-request-id', 'x-content-type-options', 'date']);

const NOT_IN_A_TARGET = /[^\x21-\x7e]/;

/** Header names that a Connection header makes part of the connection. */
function connectionNames(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return [value].flat().flatMap((one) => one.split(',').map((name) => name.trim().toLowerCase()));
}

/** Our texts are UTF-8; what goes on the wire is a character per byte. */
function asBytes(value: string): string {
  return BEYOND_ASCII.test(value) ? Buffer.from(value).toString('latin1') : value;
}

const BEYOND_ASCII = /[^\x20-\x7e\t]/;
