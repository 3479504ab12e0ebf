import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, createApi } from '../../support/api.ts';
import { type PlannedRequest, planRequests } from '../../support/generator.ts';
import { type Instance, startInstance } from '../../support/instance.ts';
import { createLedger, type Ledger, type SeenResponse } from '../../support/ledger.ts';
import { makeWorld } from '../../support/make-world.ts';
import { sendAll } from '../../support/send.ts';
import { traceTo } from '../../support/system-calls.ts';
import type { World } from '../../support/world.ts';
import { type Recording, readRecording, traceIsComplete } from './recording.ts';

/** A whole Metergate's run, all its processes with Postgres and ClickHouse, and what its client saw. */
export interface RecordedInstance extends Recording {
  /** Of before the run; it has to stay. */
  before: string;
  world: World;
  sent: SentRequest[];
}

export interface SentRequest {
  request: PlannedRequest;
  response: SeenResponse;
  /** When the response was sent: 0 for responses before the recording. */
  time: number;
}

export interface InstanceRun {
  seed: number;
  items: number;
}

/** Many ranges are to pass: a cut should find each of their steps. */
export const ENVIRONMENT = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '5', DISK_FREE_BYTES_MIN: '0' };
/** Few, so that the load takes its time and many ranges pass. */
const CONNECTIONS = 2;
/** So that there are many responses, and cuts between them. */
const BATCH_ITEMS = 60;
const PATIENCE_MS = 30_000;
const NEVER = Number.POSITIVE_INFINITY;

/** Starts on a small installation that was stopped, so that every file of a later day is there. */
export async function recordInstance(
  folder: string,
  { seed, items }: InstanceRun,
): Promise<RecordedInstance> {
  const places = { before: join(folder, 'before'), trace: join(folder, 'trace') };
  mkdirSync(folder, { recursive: true });
  let traced = false;
  const under = () => (traced ? traceTo(places.trace) : []);
  const instance = await startInstance(ENVIRONMENT, { under });
  const client = watchedClient(instance);
  try {
    const world = await makeWorld(client.api);
    await client.send({ world, seed, run: 'before', items: 1_000 });
    const respondedBefore = client.seen.length;
    await stopInOrder(instance);
    execFileSync('cp', ['-a', instance.dataDir, places.before]);
    traced = true;
    await instance.start();
    await client.send({ world, seed: seed + 1, run: 'recorded', items });
    const pid = instance.pid('supervisor');
    await stopInOrder(instance);
    await traceIsComplete(places.trace, pid);
    const { before, trace } = places;
    const recording = await readRecording({ dataDir: instance.dataDir, before, traces: [trace], orderedIn });
    return { ...recording, before, world, sent: sentRequests(client.seen, respondedBefore, recording) };
  } finally {
    await client.api.close();
    await instance.remove();
  }
}

async function stopInOrder(instance: Instance): Promise<void> {
  const exitCode = await instance.stop();
  if (exitCode !== 0) throw new Error(`an ordinary stop ended with ${exitCode}`);
}

/** Throws when an acknowledgement that the client got is not in the recording. */
function sentRequests(seen: SeenRequest[], respondedBefore: number, { log }: Recording): SentRequest[] {
  const times = new Map(log.responses.map((response) => [response.requestId, response.time]));
  return seen.map(({ requestId, ...one }, at) => {
    const time = at < respondedBefore ? 0 : (times.get(requestId) ?? NEVER);
    if (time === NEVER && one.response.status < 300)
      throw new Error(`no response to ${requestId} was recorded`);
    return { ...one, time };
  });
}

/** Postgres' folders and ClickHouse's. */
function orderedIn(name: string): boolean {
  return /^(postgres|warehouse)/.test(name);
}

interface Load extends InstanceRun {
  world: World;
  run: string;
}

interface SeenRequest {
  request: PlannedRequest;
  response: SeenResponse;
  requestId: string | undefined;
}

/** Sends loads and keeps the responses. Every request has an id of its own, which its response names. */
function watchedClient({ origin, keys }: Instance) {
  const plain = createApi({ origin, key: keys().live.secret, connections: CONNECTIONS });
  const requestIds = new WeakMap<object, string>();
  const seen: SeenRequest[] = [];
  let requested = 0;
  const api: Api = {
    ...plain,
    async call(method, path, options = {}) {
      const requestId = `cut-${requested++}`;
      const headers = { ...options.headers, 'x-request-id': requestId };
      const response = await plain.call(method, path, { ...options, headers });
      requestIds.set(Object(response.body), requestId);
      return response;
    },
  };
  return {
    api,
    seen,
    async send({ world, seed, run, items }: Load): Promise<void> {
      const responded = (request: PlannedRequest, response: SeenResponse) =>
        void seen.push({ request, response, requestId: requestIds.get(Object(response.body)) });
      const ledger: Ledger = { ...createLedger(world), responded };
      const requests = planRequests({ seed, items, run, nowMs: Date.now(), world, batchItems: BATCH_ITEMS });
      await sendAll(requests, { api, ledger, connections: CONNECTIONS, patienceMs: PATIENCE_MS });
    },
  };
}
