import { processCost } from '../../support/process-cost.ts';
import { type BrokenOff, mutantOffRequests } from './broken-off.ts';
import { TARGET_PATH } from './fuzz-request.ts';
import { talkNonsense } from './no-http.ts';
import { openRawSocket, postHead } from './raw-socket.ts';
import type { PlaneKeys } from './send-fuzz.ts';
import { dribble } from './slow-clients.ts';
import { smuggleRequests } from './smuggled.ts';

export interface SocketsOptions {
  origin: string;
  keys: PlaneKeys;
  seed: number;
  run: string;
  customer: string;
  /** Clients who leave; a third as many talk at random, and a tenth of it dribble in each way. */
  count: number;
  /** False: nobody dribbles, since it takes a quarter of a minute until they are closed. */
  slow: boolean;
}

export interface SocketsReport {
  problems: string[];
  brokenOff: BrokenOff[];
  /** Of events that were never requested. */
  smuggledKeys: string[];
  counts: Record<string, number>;
}

/** Everything that can be done wrong with a connection, at once. */
export async function abuseSockets(options: SocketsOptions): Promise<SocketsReport> {
  const { origin, keys, seed, count, slow } = options;
  const random = Math.ceil(count / 3);
  const slowOnes = Math.ceil(count / 10);
  const slowClients = { origin, key: keys.usage, path: TARGET_PATH.batch, count: slowOnes };
  const [brokenOff, smuggled, nonsense, dribbled, awaited] = await Promise.all([
    mutantOffRequests(options),
    smuggleRequests(options),
    talkNonsense({ origin, key: keys.usage, seed, random }),
    slow ? dribble(slowClients) : { clients: 0, problems: [] },
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
