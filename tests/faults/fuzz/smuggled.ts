import { openRawSocket, postHead } from '../raw-socket.ts';
import { type SocketsOptions, TARGET_PATH } from './fuzz-request.ts';

const PATIENCE_MS = 1_500;
/** For the response to the first part, where there is one. */
const FIRST_RESPONSE_MS = 500;

/**
 * Requests of which two readers would take different bytes for the end, with a second request in the part
 * that is in doubt: at once, and after the response to the first part. (The native parser closes where a
 * request comes before the response to the one before it: that would hide what was taken for a request.)
 * Resolves with the keys of those second requests: not one may have been carried out.
 */
export async function smuggleRequests(
  options: SocketsOptions,
): Promise<{ keys: string[]; problems: string[] }> {
  const ways = SHAPES.flatMap((shape) => [false, true].map((waits) => [...shape, waits] as const));
  const found = await Promise.all(
    ways.map(async ([what, shape, waits], number) => {
      const key = `${options.run}-smuggled-${number}`;
      const hidden = hiddenRequest(options, key);
      const smuggled = { ...shape(hidden), ...(waits ? { hidden } : {}) };
      return { key, problem: await smuggle(options, waits ? `${what}, after a response` : what, smuggled) };
    }),
  );
  return { keys: found.map(({ key }) => key), problems: found.flatMap(({ problem }) => problem ?? []) };
}

interface Outer {
  headers: string[];
  body: string;
}

/** With a hidden request that is sent after the response to the first part. */
interface Smuggled extends Outer {
  hidden?: string;
}

async function smuggle(
  { origin, keys }: SocketsOptions,
  what: string,
  { headers, body, hidden }: Smuggled,
): Promise<string | undefined> {
  const socket = await openRawSocket(origin);
  const json = headers.some((line) => /^content-type/i.test(line)) ? [] : ['Content-Type: application/json'];
  const text = `${postHead(TARGET_PATH.batch, keys.usage, [...json, ...headers])}${body}`;
  const at = hidden === undefined ? text.length : text.lastIndexOf(hidden);
  socket.send(text.slice(0, at));
  if (hidden !== undefined) await socket.receives(/^HTTP/, FIRST_RESPONSE_MS);
  socket.send(text.slice(at));
  await socket.receives(/"created":1|"id":"use_/, PATIENCE_MS);
  socket.leave();
  return /"created":1|"id":"use_/.test(socket.received())
    ? `${what}: the request inside was carried out`
    : undefined;
}

function hiddenRequest({ keys, customer }: SocketsOptions, key: string): string {
  const body = JSON.stringify({ customerId: customer, meterId: 'tokens', value: 1 });
  const headers = [`Idempotency-Key: ${key}`, `Content-Length: ${body.length}`];
  return `${postHead(TARGET_PATH.single, keys.usage, ['Content-Type: application/json', ...headers])}${body}`;
}

const EMPTY = '{"events":[]}';
const CHUNKED = 'Transfer-Encoding: chunked';
const LAST_CHUNK = '0\r\n\r\n';
const EMPTY_CHUNK = `${EMPTY.length.toString(16)}\r\n${EMPTY}\r\n`;

type Shape = (hidden: string) => Outer;

/** Without two ways of writing chunks that the native parser reads leniently: infra/http/uws-front.ts. */
const SHAPES: Array<[what: string, shape: Shape]> = [
  ['both framings, chunks first', (hidden) => both(`${EMPTY_CHUNK}${LAST_CHUNK}${hidden}`, [CHUNKED])],
  ['both framings, length first', (hidden) => both(`${EMPTY_CHUNK}${LAST_CHUNK}${hidden}`, [], [CHUNKED])],
  [
    'both framings, and the length ends early',
    (hidden) => framed(['Content-Length: 0', CHUNKED], `${hex(hidden)}\r\n${hidden}\r\n${LAST_CHUNK}`),
  ],
  ['two lengths', (hidden) => framed([length(EMPTY), length(EMPTY + hidden)], EMPTY + hidden)],
  [
    'two lengths, the longer first',
    (hidden) => framed([length(EMPTY + hidden), length(EMPTY)], EMPTY + hidden),
  ],
  ['a list of lengths', (hidden) => framed([`${length(EMPTY)}, ${hidden.length}`], EMPTY + hidden)],
  ['a length with a plus', (hidden) => framed(['Content-Length: +0'], hidden)],
  ['a length with a minus', (hidden) => framed(['Content-Length: -0'], hidden)],
  ['a length in hex', (hidden) => framed(['Content-Length: 0x0'], hidden)],
  ['a length that is empty', (hidden) => framed(['Content-Length: '], hidden)],
  ['a length beyond 64 bits', (hidden) => framed(['Content-Length: 18446744073709551616'], hidden)],
  ['a length with a unit', (hidden) => framed([`${length(EMPTY)}b`], EMPTY + hidden)],
  ['another coding', (hidden) => framed(['Transfer-Encoding: xchunked'], `${LAST_CHUNK}${hidden}`)],
  ['two codings', (hidden) => framed(['Transfer-Encoding: chunked, identity'], `${LAST_CHUNK}${hidden}`)],
  [
    'chunks, then another coding',
    (hidden) => framed([CHUNKED, 'Transfer-Encoding: x'], `${LAST_CHUNK}${hidden}`),
  ],
  [
    'a coding on the next line',
    (hidden) => framed(['Transfer-Encoding:\r\n chunked'], `${LAST_CHUNK}${hidden}`),
  ],
  ['a space before the colon', (hidden) => framed(['Content-Length : 0', length(hidden)], hidden)],
  ['a chunk size in hex notation', (hidden) => framed([CHUNKED], `0x0\r\n\r\n${hidden}`)],
  ['a negative chunk size', (hidden) => framed([CHUNKED], `-0\r\n\r\n${hidden}`)],
  ['a chunk size that wraps around', (hidden) => framed([CHUNKED], `10000000000000000\r\n\r\n${hidden}`)],
  ['chunks that end in line feeds', (hidden) => framed([CHUNKED], `0\n\n${hidden}`)],
  ['no chunk size', (hidden) => framed([CHUNKED], `\r\n${LAST_CHUNK}${hidden}`)],
  [
    'a header line that ends in a line feed',
    (hidden) => framed([`X-A: b\n${length(hidden)}`, 'Content-Length: 0'], hidden),
  ],
  ['a header line that ends in a carriage return', (hidden) => framed([`X-A: b\r${length(hidden)}`], hidden)],
  ['a NUL in a header', (hidden) => framed(['X-A: \0', length(hidden)], hidden)],
  ['no framing at all', (hidden) => framed([], `\0${hidden}`)],
  // The response comes before their bodies: what comes then is still the body.
  ['a body of another media type', (hidden) => framed(['Content-Type: text/plain', length(hidden)], hidden)],
  ['a body packed in another way', (hidden) => framed(['Content-Encoding: br', length(hidden)], hidden)],
  [
    'a body that is too long',
    (hidden) => framed(['Content-Length: 2000000'], hidden.padEnd(2_000_000, '\r\n')),
  ],
  ['a body that is the request', (hidden) => framed([length(hidden)], hidden)],
  ['a body in a chunk', (hidden) => framed([CHUNKED], `${hex(hidden)}\r\n${hidden}\r\n${LAST_CHUNK}`)],
];

function framed(headers: string[], body: string): Outer {
  return { headers, body };
}

function both(body: string, before: string[], after: string[] = []): Outer {
  return framed([...before, length(body), ...after], body);
}

function length(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}`;
}

function hex(body: string): string {
  return Buffer.byteLength(body).toString(16);
}
