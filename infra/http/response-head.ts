import { STATUS_CODES } from 'node:http';
import { RESPONSE_GUARDS } from '../../schemas/http/response-guards.ts';

/** On every response, from any tier, for any outcome. */
export const API_VERSION = 'v1';

/** Behind the status and before the request id. */
const FIXED_HEAD = [
  `\r\nX-API-Version: ${API_VERSION}`,
  `X-Content-Type-Options: ${RESPONSE_GUARDS['X-Content-Type-Options']}`,
  'X-Request-Id: ',
].join('\r\n');

const NO_STORE = `\r\nCache-Control: ${RESPONSE_GUARDS['Cache-Control']}`;

export const JSON_TYPE = { 'content-type': 'application/json' };

/** What every response with this status begins with, up to its request id. */
export function headStart(status: number): string {
  return HEAD_STARTS.get(status) ?? `${statusLine(status)}${FIXED_HEAD}`;
}

/** `201 Created`. */
export function statusLine(status: number): string {
  return STATUS_LINES.get(status) ?? `${status} Unknown`;
}

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([code, text]) => [Number(code), `${code} ${text ?? 'Unknown'}`]),
);

/** One text for each: two that were joined are copied together for every response. */
const HEAD_STARTS = new Map([...STATUS_LINES].map(([status, line]) => [status, `${line}${FIXED_HEAD}`]));

/** True where HTTP allows no body: it would be taken for the next response on the connection. */
export function isBodiless(method: string, status: number): boolean {
  return method === 'HEAD' || forbidsBody(status);
}

/** True where not even a Content-Length may be sent. */
export function forbidsBody(status: number): boolean {
  return status === 204 || status === 304;
}

/** A value cannot begin a header line of its own, wherever it comes from. */
export function oneLine(value: string): string {
  return LINE_BREAK.test(value) ? value.replace(LINE_BREAKS, ' ') : value;
}

const LINE_BREAK = /[\r\n\0]/;
const LINE_BREAKS = /[\r\n\0]/g;

/** Every line of a response's head behind its request id. */
export function headerLines(headers: Array<[string, string]>): string {
  let lines = '';
  let isKept = false;
  for (const [name, value] of headers) {
    lines += `\r\n${name}: ${oneLine(value)}`;
    if (name.toLowerCase() === 'cache-control') isKept = true;
  }
  return isKept ? lines : lines + NO_STORE;
}

/** The same of headers that never change, as most responses have them: made once. */
export function knownHeaderLines(headers: Readonly<Record<string, string>>): string {
  const known = KNOWN_LINES.get(headers);
  if (known !== undefined) return known;
  const lines = headerLines(Object.entries(headers));
  if (Object.isFrozen(headers)) KNOWN_LINES.set(headers, lines);
  return lines;
}

const KNOWN_LINES = new WeakMap<Readonly<Record<string, string>>, string>();

/** What `content-length` among these headers announces; undefined when nothing is announced. */
export function announcedLength(headers: Array<[string, string]>): number | undefined {
  const found = headers.find(([name]) => name.toLowerCase() === 'content-length');
  return found === undefined ? undefined : Number(found[1]);
}
