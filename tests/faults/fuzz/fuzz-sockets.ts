import { processCost } from '../../support/process-cost.ts';
import { openRawSocket, postHead } from '../raw-socket.ts';
import { type BrokenOff, breakOffRequests } from './broken-off.ts';
import { type SocketsOptions, TARGET_PATH } from './fuzz-request.ts';
import { talkNonsense } from './no-http.ts';
import { smuggleRequests } from './smuggled.ts';

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

/** Five hundred bodies of 1 MiB are announced and do not come: nothing may be set aside for them. */
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

interface SlowKind {
  begins: string;
  goesOn: string;
}

function slowKinds(path: string, key: string): SlowKind[] {
  const json = 'Content-Type: application/json';
  return [
    { begins: '', goesOn: '' },
    { begins: `POST ${path} HTTP/1.1\r\nX-A: `, goesOn: 'x' },
    { begins: postHead(path, key, [json, 'Content-Length: 1000000']), goesOn: '' },
    { begins: postHead(path, key, [json, 'Content-Length: 1000000']), goesOn: ' ' },
    { begins: postHead(path, key, [json, 'Transfer-Encoding: chunked']), goesOn: '1\r\n \r\n' },
  ];
}

async function isLeft(origin: string, { begins, goesOn }: SlowKind): Promise<boolean> {
  const socket = await openRawSocket(origin);
  socket.send(begins);
  const until = performance.now() + CLOSED_WITHIN_MS;
  let open = true;
  while (open && performance.now() < until) {
    if (goesOn !== '') open = socket.send(goesOn);
    open = open && !(await socket.isClosedWithin(DRIBBLE_MS));
  }
  socket.leave();
  return !open;
}
