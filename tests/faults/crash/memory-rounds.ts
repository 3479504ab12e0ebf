import type { Instance } from '../../support/instance.ts';
import { createLoadBody, type LoadBody } from '../../support/load-bodies.ts';
import { makeWorld } from '../../support/make-world.ts';
import { type OpenedInstance, openPrepared } from '../../support/open-instance.ts';
import { processCost } from '../../support/process-cost.ts';
import type { World } from '../../support/world.ts';
import type { FaultOptions, FaultPromise, RoundReport } from '../promise.ts';
import { whileStopped } from '../while-stopped.ts';
import { createFlood, type Flood, type FloodCounts } from './flood.ts';

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
  async open(options) {
    return await openPrepared({ LOG_LEVEL: 'warn' }, { connections: 1 }, async (opened) => {
      const flood = await prepare(opened, options);
      const round = () => floodRound(opened.instance, flood, ROUND_MS[options.form]);
      return { round, close: opened.close };
    });
  },
};

const DENSE_CONNECTIONS = 8;
const LARGE_CONNECTIONS = 700;
/**
 * The table of all keys takes 11 to 23 bytes a key and is meant to grow. This is about what waits: beyond so
 * many keys the dense batches are replays.
 */
const NEW_KEYS_MAX = 5_000_000;

async function prepare({ instance, api }: OpenedInstance, { seed }: FaultOptions): Promise<Flood> {
  const key = instance.keys().live.secret;
  const world = await makeWorld(api);
  const { host, port } = new URL(instance.origin);
  const bodies = Array.from({ length: DENSE_CONNECTIONS }, (_, at) =>
    loadBody({ world, host, key, seed: seed + at }),
  );
  let keysMade = 0;
  const dense = bodies.map((body) => () => {
    if (keysMade < NEW_KEYS_MAX) body.renewKeys();
    keysMade += body.events;
    return body.request;
  });
  const large = padded(loadBody({ world, host, key, seed: seed + DENSE_CONNECTIONS }).request);
  const larges = Array.from({ length: LARGE_CONNECTIONS }, () => () => large);
  return createFlood({ port: Number(port), requests: [...dense, ...larges] });
}

function loadBody(options: { world: World; host: string; key: string; seed: number }): LoadBody {
  const run = options.seed.toString(36).slice(-9);
  return createLoadBody({ ...options, run, nowMs: Date.now(), spreadMs: 600_000 }, { next: 0 });
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

async function floodRound(instance: Instance, flood: Flood, durationMs: number): Promise<RoundReport> {
  const dataPlane = instance.pid('data plane');
  const counts = await whileStopped(instance.pid('control side'), () => flood.run(durationMs));
  if (instance.pid('data plane') !== dataPlane) return { counts: { ...counts }, problems: [DIED] };
  const rssPeakMib = Math.round(processCost(dataPlane).rssPeakBytes / MEBIBYTE);
  return { counts: { ...counts }, peaks: { rssPeakMib }, problems: faults(counts, rssPeakMib) };
}

/** A reset after an early rejection may overtake the response. */
const WITHOUT_RESPONSE_MAX = 0.01;
const DIED = 'the data plane ended under the flood';

function faults(counts: FloodCounts, rssPeakMib: number): string[] {
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
