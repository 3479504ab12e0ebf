import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '../../support/random.ts';
import { openRawSocket, postHead, postRequest } from '../raw-socket.ts';
import { type FuzzRequest, type SocketsOptions, soundRequest, TARGET_PATH } from './fuzz-request.ts';

/** A request whose client left. */
export interface BrokenOff {
  /** The same, to be sent again whole. */
  request: FuzzRequest;
  /** True: all of it had been sent, so that it may be stored. */
  wasWhole: boolean;
  /** True: the server had not closed before. */
  leftFirst: boolean;
}

const AT_ONCE = 100;
/** As long as a request is on its way, a frame collects or is written. */
const STAY_MS_MAX = 3;

type Cut = 'head' | 'body' | 'chunk' | 'response';

/** Clients that leave in the middle: of the head, of the body, of a chunk, or between body and response. */
export async function breakOffRequests(options: SocketsOptions): Promise<BrokenOff[]> {
  const random = createRandom(options.seed);
  const all: BrokenOff[] = [];
  while (all.length < options.count) {
    const some = Array.from({ length: Math.min(AT_ONCE, options.count - all.length) }, (_, at) => {
      return breakOff(options, random, all.length + at);
    });
    all.push(...(await Promise.all(some)));
  }
  return all;
}

async function breakOff(options: SocketsOptions, random: Random, number: number): Promise<BrokenOff> {
  const { origin, keys } = options;
  const cut = random.pick<Cut>(['head', 'body', 'chunk', 'response', 'response']);
  const isUsage = random.chance(0.8);
  const name = `${options.run}-cut-${number}`;
  const request = isUsage ? usageOf(name, options.customer) : customerOf(name);
  const { body, target } = request;
  const framing = cut === 'chunk' ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
  const key = isUsage ? keys.usage : keys.control;
  const head = postHead(TARGET_PATH[target], key, ['Content-Type: application/json', framing]);
  const chunks = `${body.length.toString(16)}\r\n${body}`;
  const [stays, hard] = [random.below(STAY_MS_MAX), random.chance(0.5)];
  const sent: Record<Cut, string> = {
    head: head.slice(0, 1 + random.below(head.length - 3)),
    body: `${head}${body.subarray(0, random.below(body.length))}`,
    // Without the chunk that ends it.
    chunk: `${head}${chunks.slice(0, 1 + random.below(chunks.length))}`,
    response: `${head}${body}`,
  };
  const socket = await openRawSocket(origin);
  socket.send(sent[cut]);
  await delay(stays);
  const leftFirst = !(await socket.isClosedWithin(0));
  socket.leave(hard);
  return {
    request: { ...request, what: `broken off in the ${cut}` },
    wasWhole: cut === 'response',
    leftFirst,
  };
}

function usageOf(name: string, customer: string): FuzzRequest {
  const event = { idempotencyKey: name, customerId: customer, meterId: 'tokens', value: 1 };
  return soundRequest('batch', JSON.stringify({ events: [event] }), { keys: [name] });
}

function customerOf(name: string): FuzzRequest {
  const body = JSON.stringify({ name, email: `${name}@example.org`, externalId: name });
  // Sent with a key, so that a repetition requests the first response.
  const headers = { 'content-type': 'application/json', 'idempotency-key': name };
  return soundRequest('customers', body, { headers });
}

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
  const ways = shapesOf('').flatMap((_, at) => [false, true].map((waits) => [at, waits] as const));
  const found = await Promise.all(
    ways.map(async ([at, waits], number) => {
      const key = `${options.run}-smuggled-${number}`;
      return { key, problem: await smuggle(options, key, { at, waits }) };
    }),
  );
  return { keys: found.map(({ key }) => key), problems: found.flatMap(({ problem }) => problem ?? []) };
}

/** `waits`: the hidden request is sent after the response to the first part. */
async function smuggle(
  { origin, keys, customer }: SocketsOptions,
  key: string,
  { at, waits }: { at: number; waits: boolean },
): Promise<string | undefined> {
  const event = JSON.stringify({ customerId: customer, meterId: 'tokens', value: 1 });
  const hidden = postRequest(TARGET_PATH.single, keys.usage, event, [`Idempotency-Key: ${key}`]).toString();
  const [what, headers, body] = shapesOf(hidden)[at] ?? ['', [], ''];
  const socket = await openRawSocket(origin);
  const json = headers.some((line) => /^content-type/i.test(line)) ? [] : ['Content-Type: application/json'];
  const text = `${postHead(TARGET_PATH.batch, keys.usage, [...json, ...headers])}${body}`;
  const hiddenAt = waits ? text.lastIndexOf(hidden) : text.length;
  socket.send(text.slice(0, hiddenAt));
  if (waits) await socket.receives(/^HTTP/, FIRST_RESPONSE_MS);
  socket.send(text.slice(hiddenAt));
  const isCarriedOut = await socket.receives(/"created":1|"id":"use_/, PATIENCE_MS);
  socket.leave();
  return isCarriedOut
    ? `${what}${waits ? ', after a response' : ''}: the request inside was carried out`
    : undefined;
}

const EMPTY = '{"events":[]}';
const CHUNKED = 'Transfer-Encoding: chunked';
const LAST_CHUNK = '0\r\n\r\n';

/** Without two ways of writing chunks that the native parser reads leniently: infra/http/uws-front.ts. */
function shapesOf(hidden: string): Array<[what: string, headers: string[], body: string]> {
  const own = length(hidden);
  const afterEmpty = EMPTY + hidden;
  const afterChunks = `${chunk(EMPTY)}${LAST_CHUNK}${hidden}`;
  return [
    ['both framings, chunks first', [CHUNKED, length(afterChunks)], afterChunks],
    ['both framings, length first', [length(afterChunks), CHUNKED], afterChunks],
    ['both framings, and the length ends early', ['Content-Length: 0', CHUNKED], chunk(hidden) + LAST_CHUNK],
    ['two lengths', [length(EMPTY), length(afterEmpty)], afterEmpty],
    ['two lengths, the longer first', [length(afterEmpty), length(EMPTY)], afterEmpty],
    ['a list of lengths', [`${length(EMPTY)}, ${hidden.length}`], afterEmpty],
    ['a length with a plus', ['Content-Length: +0'], hidden],
    ['a length with a minus', ['Content-Length: -0'], hidden],
    ['a length in hex', ['Content-Length: 0x0'], hidden],
    ['a length that is empty', ['Content-Length: '], hidden],
    ['a length beyond 64 bits', ['Content-Length: 18446744073709551616'], hidden],
    ['a length with a unit', [`${length(EMPTY)}b`], afterEmpty],
    ['another coding', ['Transfer-Encoding: xchunked'], LAST_CHUNK + hidden],
    ['two codings', ['Transfer-Encoding: chunked, identity'], LAST_CHUNK + hidden],
    ['chunks, then another coding', [CHUNKED, 'Transfer-Encoding: x'], LAST_CHUNK + hidden],
    ['a coding on the next line', ['Transfer-Encoding:\r\n chunked'], LAST_CHUNK + hidden],
    ['a space before the colon', ['Content-Length : 0', own], hidden],
    ['a chunk size in hex notation', [CHUNKED], `0x0\r\n\r\n${hidden}`],
    ['a negative chunk size', [CHUNKED], `-0\r\n\r\n${hidden}`],
    ['a chunk size that wraps around', [CHUNKED], `10000000000000000\r\n\r\n${hidden}`],
    ['chunks that end in line feeds', [CHUNKED], `0\n\n${hidden}`],
    ['no chunk size', [CHUNKED], `\r\n${LAST_CHUNK}${hidden}`],
    ['a header line that ends in a line feed', [`X-A: b\n${own}`, 'Content-Length: 0'], hidden],
    ['a header line that ends in a carriage return', [`X-A: b\r${own}`], hidden],
    ['a NUL in a header', ['X-A: \0', own], hidden],
    ['no framing at all', [], `\0${hidden}`],
    // The response comes before their bodies: what comes then is still the body.
    ['a body of another media type', ['Content-Type: text/plain', own], hidden],
    ['a body packed in another way', ['Content-Encoding: br', own], hidden],
    ['a body that is too long', ['Content-Length: 2000000'], hidden.padEnd(2_000_000, '\r\n')],
    ['a body that is the request', [own], hidden],
    ['a body in a chunk', [CHUNKED], chunk(hidden) + LAST_CHUNK],
  ];
}

function length(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}`;
}

function chunk(body: string): string {
  return `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`;
}
