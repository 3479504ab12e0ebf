import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, createApi } from '../../support/api.ts';
import { type PlannedRequest, planRequests } from '../../support/generator.ts';
import { type Instance, startInstance } from '../../support/instance.ts';
import { createLedger, type Ledger, type SeenAnswer } from '../../support/ledger.ts';
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
  answer: SeenAnswer;
  /** When the answer set out: 0 for what was answered before the recording. */
  moment: number;
}

export interface InstanceRun {
  seed: number;
  items: number;
}

/** Many ranges are to pass: a cut should find each of their steps. */
export const ENVIRONMENT = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '5', DISK_FREE_BYTES_MIN: '0' };
/** Few, so that the load takes its time and many ranges pass. */
const CONNECTIONS = 2;
/** So that there are many answers, and cuts between them. */
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
    const answeredBefore = client.seen.length;
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
    return { ...recording, before, world, sent: sentRequests(client.seen, answeredBefore, recording) };
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
function sentRequests(seen: SeenRequest[], answeredBefore: number, { log }: Recording): SentRequest[] {
  const moments = new Map(log.answers.map((answer) => [answer.requestId, answer.moment]));
  return seen.map(({ requestId, ...one }, at) => {
    const moment = at < answeredBefore ? 0 : (moments.get(requestId) ?? NEVER);
    if (moment === NEVER && one.answer.status < 300)
      throw new Error(`no answer to ${requestId} was recorded`);
    return { ...one, moment };
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
  answer: SeenAnswer;
  requestId: string | undefined;
}

/** Sends loads and keeps what was answered. Every request has an id of its own, which its answer names. */
function watchedClient({ origin, keys }: Instance) {
  const plain = createApi({ origin, key: keys().live.secret, connections: CONNECTIONS });
  const requestIds = new WeakMap<object, string>();
  const seen: SeenRequest[] = [];
  let asked = 0;
  const api: Api = {
    ...plain,
    async call(method, path, options = {}) {
      const requestId = `cut-${asked++}`;
      const headers = { ...options.headers, 'x-request-id': requestId };
      const answer = await plain.call(method, path, { ...options, headers });
      requestIds.set(Object(answer.body), requestId);
      return answer;
    },
  };
  return {
    api,
    seen,
    async send({ world, seed, run, items }: Load): Promise<void> {
      const answered = (request: PlannedRequest, answer: SeenAnswer) =>
        void seen.push({ request, answer, requestId: requestIds.get(Object(answer.body)) });
      const ledger: Ledger = { ...createLedger(world), answered };
      const requests = planRequests({ seed, items, run, nowMs: Date.now(), world, batchItems: BATCH_ITEMS });
      await sendAll(requests, { api, ledger, connections: CONNECTIONS, patienceMs: PATIENCE_MS });
    },
  };
}
