import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, createApi } from '../../support/api.ts';
import { auditOf } from '../../support/audit-of.ts';
import { compareCounters, compareEvents, type Judged } from '../../support/compare.ts';
import { type GeneratorOptions, type PlannedRequest, planRequests } from '../../support/generator.ts';
import { type Instance, startInstance } from '../../support/instance.ts';
import { createLedger, type Ledger, type SeenResponse } from '../../support/ledger.ts';
import { makeWorld } from '../../support/make-world.ts';
import { sendAll } from '../../support/send.ts';
import { compareLog } from '../../support/stored-events.ts';
import { traceTo } from '../../support/system-calls.ts';
import type { World } from '../../support/world.ts';
import { problemsOf } from '../judged-instance.ts';
import { sendOptions } from '../workload.ts';
import { cutPower, type PowerCut } from './power-cut.ts';
import { type Recording, readRecording, traceIsComplete } from './recording.ts';

/** A whole Metergate's run, all its processes with Postgres and ClickHouse, and what its client saw. */
export interface RecordedInstance extends Recording {
  /** Of before the run; it has to stay. */
  before: string;
  world: World;
  sent: SentRequest[];
}

interface SentRequest extends Pick<SeenRequest, 'request' | 'response'> {
  /** When the response was sent: 0 for responses before the recording. */
  time: number;
}

/** Many ranges are to pass: a cut should find each of their steps. */
const ENVIRONMENT = { LOG_LEVEL: 'warn', LOAD_LINGER_MS: '5', DISK_FREE_BYTES_MIN: '0' };
/** Few, so that the load takes its time and many ranges pass. */
const CONNECTIONS = 2;
/** So that there are many responses, and cuts between them. */
const BATCH_ITEMS = 60;
const NEVER = Number.POSITIVE_INFINITY;

/** Starts on a small installation that was stopped, so that every file of a later day is there. */
export async function recordInstance(
  folder: string,
  { seed, items }: Pick<Load, 'seed' | 'items'>,
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

type Load = Pick<GeneratorOptions, 'world' | 'seed' | 'run' | 'items'>;

interface SeenRequest {
  request: PlannedRequest;
  response: SeenResponse;
  requestId: string | undefined;
}

/** Sends loads and keeps the responses. Every response names the id of its request. */
function watchedClient({ origin, keys }: Instance) {
  const plain = createApi({ origin, key: keys().live.secret, connections: CONNECTIONS });
  const requestIds = new WeakMap<object, string>();
  const seen: SeenRequest[] = [];
  const api: Api = {
    ...plain,
    async call(...request) {
      const response = await plain.call(...request);
      requestIds.set(Object(response.body), String(response.headers['x-request-id']));
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
      await sendAll(requests, { ...sendOptions({ api, ledger, world }), connections: CONNECTIONS });
    },
  };
}

const JUDGING_CONNECTIONS = 6;

/**
 * Starts a whole Metergate on what a power cut left. Its client knows the responses that were sent
 * before and sends everything else again. Then responses, counters, stored events, log and audit are judged.
 */
export async function judgeInstance(recorded: RecordedInstance, cut: PowerCut): Promise<string[]> {
  const prepare = async (dataDir: string): Promise<void> => {
    cutPower(recorded.history, cut, dataDir);
    giveRights(dataDir, recorded.before);
  };
  const instance = await startInstance(ENVIRONMENT, { prepare });
  const ledger = createLedger(recorded.world);
  const key = instance.keys().live.secret;
  const api = createApi({ origin: instance.origin, key, connections: JUDGING_CONNECTIONS });
  const judged: Judged = { api, ledger, world: recorded.world };
  try {
    await sendAll(unsent(recorded, cut, ledger), sendOptions(judged));
    // Rows are not counted: a cut may take the token of a part and leave the part, which is then stored twice
    // until ClickHouse merges it. Readers of events read them merged, and hours are computed from such reads.
    const { dataDir } = instance;
    const stored = [() => auditOf(dataDir), () => compareLog(dataDir, ledger)];
    return await problemsOf(judged, compareCounters, compareEvents, ...stored);
  } finally {
    await api.close();
    await instance.remove();
  }
}

/** The requests that have to be sent again. */
function unsent({ sent }: RecordedInstance, { time }: PowerCut, ledger: Judged['ledger']) {
  const again = sent.filter((one) => one.time > time).map(({ request }) => request);
  for (const request of again) ledger.withoutResponse(request);
  for (const one of sent) if (one.time <= time) ledger.responded(one.request, one.response);
  return again;
}

/** The owners and rights that the programs insist on. */
function giveRights(dataDir: string, before: string): void {
  const { uid, gid } = statSync(join(before, 'postgres'));
  execFileSync('chown', ['-R', `${uid}:${gid}`, join(dataDir, 'postgres')]);
  chmodSync(dataDir, 0o711);
}
