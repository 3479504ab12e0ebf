import { processCost } from '../../support/process-cost.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { openRawSocket, postHead } from '../raw-socket.ts';
import { type SocketsOptions, TARGET_PATH } from './fuzz-request.ts';
import { type BrokenOff, breakOffRequests, smuggleRequests } from './misleading-requests.ts';
import { fuzzEntries } from './text-table.ts';

export interface SocketsReport {
  problems: string[];
  brokenOff: BrokenOff[];
  /** Of events that were never requested. */
  smuggledKeys: string[];
  counts: Record<string, number>;
}

/** Everything that can be done wrong with a connection, at once. */
export async function abuseSockets(options: SocketsOptions): Promise<SocketsReport> {
  const [brokenOff, smuggled, nonsense, dribbled, awaited] = await Promise.all([
    breakOffRequests(options),
    smuggleRequests(options),
    talkNonsense(options),
    options.slow ? dribble(options) : { clients: 0, problems: [] },
    expectContinue(options),
  ]);
  return {
    problems: [...smuggled.problems, ...nonsense.problems, ...dribbled.problems, ...awaited],
    brokenOff,
    smuggledKeys: smuggled.keys,
    counts: {
      clientsGone: brokenOff.filter(({ leftFirst }) => leftFirst).length,
      ambiguousRequests: smuggled.keys.length,
      connectionsOfNonsense: nonsense.connections,
      slowClients: dribbled.clients,
    },
  };
}

const PATIENCE_MS = 5_000;

/** A client that expects 100-continue before its body gets a response all the same, either way. */
async function expectContinue({ origin, keys }: SocketsOptions): Promise<string[]> {
  const body = '{"events":[]}';
  const framing = [`Content-Length: ${body.length}`, 'Content-Type: application/json'];
  const socket = await openRawSocket(origin);
  socket.send(postHead(TARGET_PATH.batch, keys.usage, [...framing, 'Expect: 100-continue']));
  // RFC 9110, 10.1.1: a client need not wait indefinitely.
  await socket.receives(/^HTTP\/1\.1 100/, PATIENCE_MS / 10);
  socket.send(body);
  const hasResponse = await socket.receives(/"total":0/, PATIENCE_MS);
  socket.leave();
  return hasResponse ? [] : [`a client that expects 100-continue receives ${socket.received()}`];
}

const ANNOUNCED_BYTES = 1_048_576;
/** Far below what is announced, and above what five hundred connections and a young heap take. */
const GROWTH_MIB_MAX = 100;
const MIB = 1_048_576;

/** Five hundred bodies of 1 MiB are announced and do not come: no memory may be reserved for them. */
export async function announceBodies(origin: string, key: string, pid: number): Promise<string[]> {
  const before = residentMib(pid);
  const head = postHead(TARGET_PATH.batch, key, [
    'Content-Type: application/json',
    `Content-Length: ${ANNOUNCED_BYTES}`,
  ]);
  const sockets = await Promise.all(Array.from({ length: 500 }, () => openRawSocket(origin)));
  for (const socket of sockets) socket.send(`${head}{`);
  // The response comes after all those heads.
  const served = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(PATIENCE_MS) });
  const growth = residentMib(pid) - before;
  for (const socket of sockets) socket.leave();
  if (served.status !== 200) return [`/healthz returns ${served.status} with 500 announced bodies`];
  return growth < GROWTH_MIB_MAX ? [] : [`announced bodies of 500 MiB take ${Math.round(growth)} MiB`];
}

export function residentMib(pid: number): number {
  return processCost(pid).rssBytes / MIB;
}

/** The native front closes after 10 s of its own in steps of 4 s; on a busy machine a little later. */
const CLOSED_WITHIN_MS = 25_000;
const DRIBBLE_MS = 250;

/** Clients that send a byte now and then, or nothing more: each is closed in time. */
async function dribble({ origin, keys, count }: SocketsOptions) {
  const ofEach = Math.ceil(count / 10);
  const kinds = slowKinds(TARGET_PATH.batch, keys.usage);
  const closed = await Promise.all(
    kinds.flatMap((kind) => Array.from({ length: ofEach }, () => isLeft(origin, kind))),
  );
  const stay = closed.filter((left) => !left).length;
  const fault = `${stay} of ${closed.length} slow clients are served after ${CLOSED_WITHIN_MS} ms`;
  return { clients: closed.length, problems: stay === 0 ? [] : [fault] };
}

function slowKinds(path: string, key: string): Array<[beginning: string, repeated: string]> {
  const json = 'Content-Type: application/json';
  return [
    ['', ''],
    [`POST ${path} HTTP/1.1\r\nX-A: `, 'x'],
    [postHead(path, key, [json, 'Content-Length: 1000000']), ''],
    [postHead(path, key, [json, 'Content-Length: 1000000']), ' '],
    [postHead(path, key, [json, 'Transfer-Encoding: chunked']), '1\r\n \r\n'],
  ];
}

async function isLeft(origin: string, [beginning, repeated]: [string, string]): Promise<boolean> {
  const socket = await openRawSocket(origin);
  socket.send(beginning);
  const until = performance.now() + CLOSED_WITHIN_MS;
  let open = true;
  while (open && performance.now() < until) {
    if (repeated !== '') open = socket.send(repeated);
    open = open && !(await socket.isClosedWithin(DRIBBLE_MS));
  }
  socket.leave();
  return !open;
}

const CLOSED_MS = 15_000;
const AT_ONCE = 50;

/** Bytes that are no HTTP, or not ours: each is rejected or closed, and none receives a 5xx of ours. */
async function talkNonsense({ origin, keys, seed, count }: SocketsOptions) {
  const random = createRandom(seed);
  const garbage = Array.from({ length: Math.ceil(count / 3) }, (): [string, Buffer] => {
    return ['random bytes', garbageOf(random)];
  });
  const talks = [...oddities(keys.usage), ...garbage];
  const found: Array<string | undefined> = [];
  while (talks.length > 0) {
    found.push(...(await Promise.all(talks.splice(0, AT_ONCE).map((talk) => problemOf(origin, ...talk)))));
  }
  // The end of each connection was judged.
  return { connections: found.length, problems: found.flatMap((problem) => problem ?? []) };
}

async function problemOf(origin: string, what: string, bytes: string | Buffer): Promise<string | undefined> {
  const socket = await openRawSocket(origin);
  socket.send(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  socket.end();
  const isClosed = await socket.isClosedWithin(CLOSED_MS);
  socket.leave();
  const [, status = '400'] = /^HTTP\/1\.1 (\d{3})/.exec(socket.received()) ?? [];
  if (!isClosed) return `${what}: the connection stays open for ${CLOSED_MS} ms`;
  // 505 is the parser's own bare response to other versions of HTTP.
  return Number(status) >= 500 && status !== '505' ? `${what}: returns ${status}` : undefined;
}

function oddities(key: string): Array<[what: string, bytes: string | Buffer]> {
  const get = (line: string, ...headers: string[]) => `${[line, 'Host: t', ...headers].join('\r\n')}\r\n\r\n`;
  const post = (headers: string[], body: string) =>
    `${postHead('/api/v1/usage/events', key, headers)}${body}`;
  const sound = post(['Content-Length: 2'], '{}');
  return [
    ['HTTP/0.9', 'GET /\r\n'],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    ['HTTP/2 with its preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'],
    ['HTTP/3.0', get('GET / HTTP/3.0')],
    ['a TLS hello', Buffer.from('16030100f8010000f40303'.padEnd(506, '5a'), 'hex')],
    ['an SSH greeting', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a PROXY line', 'PROXY TCP4 1.2.3.4 1.2.3.4 1 2\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n'],
    ['line ends only', '\r\n'.repeat(1_000)],
    ['NUL only', Buffer.alloc(10_000)],
    ['bare line feeds', 'GET /healthz HTTP/1.1\nHost: t\n\n'],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two hosts', get('GET /healthz HTTP/1.1', 'Host: u')],
    ['no target', 'GET  HTTP/1.1\r\nHost: t\r\n\r\n'],
    ['a target with a NUL', get('GET /\0 HTTP/1.1')],
    ['a target beyond ASCII', get('GET /\xff\xfe HTTP/1.1')],
    ['a target that climbs', get('GET /../../../etc/passwd HTTP/1.1')],
    ['a target in broken escapes', get('GET /api/v1/usage/%ff%zz/%00 HTTP/1.1', `X-API-Key: ${key}`)],
    ['a query in broken escapes', get('GET /api/v1/meters?page=%ff&%=%&&&=1 HTTP/1.1', `X-API-Key: ${key}`)],
    ['a long target', get(`GET /${'a'.repeat(15_000)} HTTP/1.1`)],
    ['a longer target', get(`GET /${'a'.repeat(200_000)} HTTP/1.1`)],
    ['a method of our own', get('METERGATE / HTTP/1.1')],
    ['a long method', get(`${'M'.repeat(5_000)} / HTTP/1.1`)],
    ['a method in lower case', get('post /api/v1/usage/events HTTP/1.1', `X-API-Key: ${key}`)],
    ['TRACE', get('TRACE / HTTP/1.1')],
    ['CONNECT', get('CONNECT t:80 HTTP/1.1')],
    [
      'an upgrade',
      get('GET / HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x'),
    ],
    ['a header block over the limit', get('GET / HTTP/1.1', `X-A: ${'x'.repeat(20_000)}`)],
    ['an endless header', get('GET / HTTP/1.1', `X-A: ${'x'.repeat(2_000_000)}`)],
    ['a thousand headers', get('GET / HTTP/1.1', ...Array.from({ length: 1_000 }, (_, at) => `X-${at}: y`))],
    ['a header without a colon', get('GET / HTTP/1.1', 'nonsense')],
    ['a header without a name', get('GET / HTTP/1.1', ': x')],
    ['a header name with bytes of control', get('GET / HTTP/1.1', 'X-\x01: y')],
    ['an empty key', get('GET /api/v1/meters HTTP/1.1', 'Authorization: Bearer ', 'X-API-Key: ')],
    ['keys that differ', get('GET /api/v1/meters HTTP/1.1', 'Authorization: Bearer a', `X-API-Key: ${key}`)],
    ['garbage after a request', `${sound}\0\x01garbage\r\n\r\n`],
    ['requests before the first response', sound.repeat(50)],
    ['half a request after a request', sound + sound.slice(0, -20)],
    ['an unknown Expect', post(['Content-Length: 2', 'Expect: 200-ok'], '{}')],
    [
      'a trailer that was not announced',
      post(['Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\nX-API-Key: x\r\n\r\n'),
    ],
    [
      'a chunk with a long extension',
      post(['Transfer-Encoding: chunked'], `2;${'x'.repeat(100_000)}\r\n{}\r\n0\r\n\r\n`),
    ],
    ['a body that was not announced', `${get('GET /healthz HTTP/1.1')}{"events":[]}`],
  ];
}

const PIECES = fuzzEntries('pieces of HTTP');

function garbageOf(random: Random): Buffer {
  const pieces = Array.from({ length: 1 + random.below(20) }, () => {
    if (random.chance(0.7)) return random.pick(PIECES);
    return Buffer.from(Array.from({ length: random.below(40) }, () => random.below(256)));
  });
  return Buffer.concat(pieces);
}
