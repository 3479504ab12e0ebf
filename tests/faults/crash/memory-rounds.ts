import { connect } from 'node:net';
import { setTimeout as pass } from 'node:timers/promises';
import type { Instance } from '../../support/instance.ts';
import { createLoadBody } from '../../support/load-body.ts';
import { namesOf } from '../../support/load-run.ts';
import { makeWorld } from '../../support/make-world.ts';
import { type OpenedInstance, openInstance } from '../../support/open-instance.ts';
import { processCost } from '../../support/process-cost.ts';
import { whileStopped } from '../process-control.ts';
import type { FaultPromise, RoundReport } from '../promise.ts';

const RSS_MAX_MIB = 512;
const MEBIBYTE = 1024 * 1024;
/** The long form is five minutes: ten rounds of thirty seconds against one process. */
const ROUND_MS = { short: 8_000, long: 30_000 };

/**
 * Far more than the data plane can take, with the load stopped behind it, and its resident set at its
 * largest. A few connections send dense batches as fast as responses come. Hundreds send bodies of a
 * mebibyte, most of it white space: held all at once they would be more than the process may have.
 */
export const boundedMemory: FaultPromise = {
  promises: [9],
  title: 'more than the data plane can take, with the load stopped',
  rounds: { short: 1, long: 10 },
  async open({ seed, form, onEnd }) {
    const opened = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 1 });
    onEnd(opened.close);
    const requests = await prepareRequests(opened, seed);
    return { round: () => floodRound(opened.instance, requests, ROUND_MS[form]) };
  },
};

const BATCH = 500;
const DENSE_CONNECTIONS = 8;
const LARGE_CONNECTIONS = 700;
/**
 * The table of all keys takes 11 to 23 bytes a key and is meant to grow. This is about what waits: beyond so
 * many keys the dense batches are replays.
 */
const NEW_KEYS_MAX = 5_000_000;

/** The request of each connection; called for each send. */
type Requests = ReadonlyArray<() => Buffer>;

async function prepareRequests({ instance, api }: OpenedInstance, seed: number): Promise<Requests> {
  const world = await makeWorld(api);
  const to = { ...namesOf(world), host: new URL(instance.origin).host, key: instance.keys().live.secret };
  const times = { nowMs: Date.now(), spreadMs: 600_000 };
  const bodies = Array.from({ length: DENSE_CONNECTIONS + 1 }, (_, at) => {
    const keyPrefix = `${(seed + at).toString(36)}-`;
    return createLoadBody({ ...to, ...times, batch: BATCH, seed: seed + at, keyPrefix });
  });
  let keysMade = 0;
  const dense = bodies.slice(1).map((body) => {
    const send = body.next();
    return () => {
      if (keysMade < NEW_KEYS_MAX) body.next();
      keysMade += BATCH;
      return send.request;
    };
  });
  const large = padded(bodies[0]?.next().request ?? Buffer.alloc(0));
  return [...dense, ...Array.from({ length: LARGE_CONNECTIONS }, () => () => large)];
}

/** The same batch with white space up to the largest body there may be. */
function padded(request: Buffer): Buffer {
  const bodyAt = request.indexOf('\r\n\r\n') + 4;
  const body = Buffer.concat([
    Buffer.alloc(MEBIBYTE - (request.length - bodyAt), ' '),
    request.subarray(bodyAt),
  ]);
  const head = request.toString('latin1', 0, bodyAt);
  return Buffer.concat([Buffer.from(head.replace(/(?<=Content-Length: )\d+/, String(body.length))), body]);
}

async function floodRound(instance: Instance, requests: Requests, durationMs: number): Promise<RoundReport> {
  const dataPlane = instance.pid('data plane');
  const flood = createFlood(Number(new URL(instance.origin).port));
  const until = performance.now() + durationMs;
  await whileStopped(instance.pid('control side'), async () => {
    await Promise.all(requests.map((next) => flood.sendUntil(until, next)));
  });
  const { counts } = flood;
  if (instance.pid('data plane') !== dataPlane) return { counts: { ...counts }, problems: [DIED] };
  const rssPeakMib = Math.round(processCost(dataPlane).rssPeakBytes / MEBIBYTE);
  return { counts: { ...counts }, peaks: { rssPeakMib }, problems: faults(counts, rssPeakMib) };
}

/** A rejected client retries after the time in Retry-After. */
const REJECTED_WAIT_MS = 1_000;
const RETRY_AFTER = /^retry-after: [1-9]/im;

/** More than the server can take: every connection sends whole requests, whatever becomes of the others. */
function createFlood(port: number) {
  const counts = {
    requestsOffered: 0,
    requestsAnswered200: 0,
    requestsRefused503: 0,
    /** Of these: without a time after which to retry. There should be none. */
    rejectedWithoutRetryAfter: 0,
    /** The connection ended without a response. */
    requestsWithoutResponse: 0,
    /** Any other response: there should be none. */
    otherResponses: 0,
  };
  return {
    counts,
    async sendUntil(until: number, next: () => Buffer): Promise<void> {
      while (performance.now() < until) {
        counts.requestsOffered++;
        const head = await sendOnce(port, next());
        const status = head === '' ? undefined : Number(head.slice(9, 12));
        if (status === 200) counts.requestsAnswered200++;
        else if (status === 503) counts.requestsRefused503++;
        else if (status === undefined) counts.requestsWithoutResponse++;
        else counts.otherResponses++;
        if (status === 503 && !RETRY_AFTER.test(head)) counts.rejectedWithoutRetryAfter++;
        if (status !== 200) await pass(Math.max(0, Math.min(REJECTED_WAIT_MS, until - performance.now())));
      }
    },
  };
}

const RESPONSE_TIMEOUT_MS = 20_000;
/** Of a rejection, all of them. */
const HEAD_CHARS_MAX = 2_000;

/**
 * The head of the response, '' without one. A connection of its own: after an early rejection half a body
 * may be unsent.
 */
function sendOnce(port: number, request: Buffer): Promise<string> {
  return new Promise((resolve) => {
    let head = '';
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => socket.destroy());
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk: Buffer) => {
      head += chunk.toString('latin1', 0, HEAD_CHARS_MAX);
      if (head.includes('\r\n\r\n') || head.length >= HEAD_CHARS_MAX) socket.destroy();
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => resolve(head));
  });
}

/** A reset after an early rejection may overtake the response. */
const WITHOUT_RESPONSE_MAX = 0.01;
const DIED = 'the data plane ended under the flood';

function faults(counts: ReturnType<typeof createFlood>['counts'], rssPeakMib: number): string[] {
  const { requestsOffered, requestsAnswered200, otherResponses } = counts;
  const { requestsWithoutResponse, rejectedWithoutRetryAfter } = counts;
  const found: string[] = [];
  if (rssPeakMib > RSS_MAX_MIB) found.push(`the data plane took ${rssPeakMib} MiB`);
  if (otherResponses > 0) found.push(`${otherResponses} responses were neither 200 nor 503`);
  if (rejectedWithoutRetryAfter > 0) found.push(`${rejectedWithoutRetryAfter} rejections had no Retry-After`);
  if (requestsWithoutResponse > WITHOUT_RESPONSE_MAX * requestsOffered) {
    found.push(`${requestsWithoutResponse} of ${requestsOffered} requests received no response`);
  }
  if (requestsAnswered200 === 0) found.push('nothing was acknowledged');
  if (requestsOffered < 2 * requestsAnswered200) {
    found.push(`offered ${requestsOffered}, acknowledged ${requestsAnswered200}: it was no flood`);
  }
  return found;
}
