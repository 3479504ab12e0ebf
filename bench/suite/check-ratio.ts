import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { type Endpoints, readEndpoints, writeEndpoints } from '../../infra/platform/endpoints-file.ts';
import { type Api, callDone, createApi, getPatiently } from '../../tests/support/api.ts';
import type { Instance } from '../../tests/support/instance.ts';
import { processCost } from '../../tests/support/process-cost.ts';
import { startBaseline } from '../baselines/start-baseline.ts';
import { openClosedLoop } from '../closed-loop.ts';
import { eachRound, inTurns, median, paired, rounded } from './paired.ts';
import { inShortTurns, type RoundSizes, timesOurs, wholeOf } from './short-turns.ts';

const CUSTOMERS = 200;
const FEATURES = ['sso', 'seats', 'calls'] as const;
const CONNECTIONS = 32;
/** The ingest process polls for the control plane's address every 100 ms. */
const MOVED_MS = 200;
/**
 * Ours is ten times slower in its first two seconds, until it is compiled and has every customer in its
 * cache.
 */
const WARM_UP_MS = { bare: 1_000, ours: 3_000 };
/** Then both in turns, as they are measured; not yet counted. */
const WARM_UP: RoundSizes = { rounds: 1, runMs: 1_200 };
/** Behind the public port a turn has to be announced: few, and longer. */
const PORT_TURN_MS = 250;
const PORT_WARM_UP_MS = 500;

export interface CheckRatios {
  customers: number;
  features: readonly string[];
  connections: number;
  directly: Compared;
  behindPublicPort: Compared;
}

/** Of everything that is measured; above 1 ours is better. */
type Compared = Awaited<ReturnType<typeof comparedDirectly>>;

/**
 * Warm entitlement checks compared with a bare Koa that returns a constant: directly, and both behind the
 * public port, in turns. One half of the bare turns against the other is the control: it must be 1.00 ± 0.05.
 */
export async function compareChecks(instance: Instance, { rounds, runMs }: RoundSizes): Promise<CheckRatios> {
  const key = instance.keys().live.secret;
  const api = createApi({ origin: instance.origin, key, connections: 4 });
  try {
    const customers = await makeCustomers(api);
    await useSome(api, customers);
    const constant = await fetch(`${instance.origin}/api/v1/entitlements/${customers[0]}/calls`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(10_000),
    });
    const bareKoa = await startBaseline('bare-koa', await constant.text());
    const paths = customers.flatMap((id) => FEATURES.map((feature) => `/entitlements/${id}/${feature}`));
    const bench: Bench = {
      instance,
      rounds,
      runMs,
      requests: paths.map((path) => requestOf(path, key)),
      bare: bareKoa,
      ours: { url: endpointsOf(instance).controlUrl, pid: instance.pid('control side') },
    };
    try {
      const directly = await comparedDirectly(bench);
      const behindPublicPort = await comparedBehindPublicPort(bench);
      return {
        customers: CUSTOMERS,
        features: FEATURES,
        connections: CONNECTIONS,
        directly,
        behindPublicPort,
      };
    } finally {
      // Otherwise ingest goes on requesting a server that is gone, however the measuring ended.
      await setPublicTarget(bench, bench.ours).finally(() => bareKoa.stop());
    }
  } finally {
    await api.close();
  }
}

interface Bench extends RoundSizes {
  instance: Instance;
  /** Of every customer and feature. */
  requests: Buffer[];
  bare: { url: string; pid: number };
  ours: { url: string; pid: number };
}

/** Each with a subscription of its own, so that no two have the same period. Their ids. */
async function makeCustomers(api: Api): Promise<string[]> {
  const made = async (path: string, body: object) => {
    return String((await callDone(api, 'POST', path, body)).id);
  };
  await made('/meters', { key: 'calls', name: 'Calls', aggregation: 'sum' });
  await made('/features', { key: 'sso', name: 'SSO', type: 'boolean' });
  await made('/features', { key: 'seats', name: 'Seats', type: 'limit' });
  await made('/features', { key: 'calls', name: 'Calls', type: 'metered', meterKey: 'calls' });
  const planId = await made('/plans', { productId: 'product', name: 'Pro' });
  const entitlements = [
    { featureKey: 'sso', value: true },
    { featureKey: 'seats', value: 5 },
    { featureKey: 'calls', value: 1_000_000 },
  ];
  await callDone(api, 'PUT', `/plans/${planId}/entitlements`, { entitlements });
  const makeOne = async (at: number) => {
    const customerId = await made('/customers', { name: `C ${at}`, email: `c${at}@example.com` });
    await made('/subscriptions', { customerId, planId });
    return customerId;
  };
  return await Promise.all(Array.from({ length: CUSTOMERS }, (_, at) => makeOne(at)));
}

async function useSome(api: Api, customers: string[]): Promise<void> {
  const events = customers.map((customerId, at) => ({
    customerId,
    meterId: 'calls',
    value: at + 0.5,
    idempotencyKey: `bench-${at}`,
  }));
  await callDone(api, 'POST', '/usage/events/batch', { events });
  await getPatiently(api, `/usage/${customers[0]}/calls?consistency=strong`, 10_000);
}

function requestOf(path: string, key: string): Buffer {
  const head = [`GET /api/v1${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${key}`];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`);
}

function endpointsOf({ dataDir }: Instance): Endpoints {
  const endpoints = readEndpoints(dataDirAt(dataDir).endpoints);
  if (!endpoints) throw new Error('nobody said where the control side is');
  return endpoints;
}

/** The same public port before another server. */
async function setPublicTarget({ instance }: Bench, { url }: { url: string }): Promise<string> {
  const endpoints = endpointsOf(instance);
  if (endpoints.controlUrl === url) return instance.origin;
  writeEndpoints(dataDirAt(instance.dataDir).endpoints, { ...endpoints, controlUrl: url });
  await new Promise((moved) => setTimeout(moved, MOVED_MS));
  return instance.origin;
}

interface Ran extends Record<string, number> {
  responded: number;
  seconds: number;
  /** CPU of the server that responds, and of the public port. */
  cpuMicros: number;
  publicPortCpuMicros: number;
}

const secondsEach = ({ seconds, responded }: Ran) => seconds / responded;
const microsEach = ({ cpuMicros, responded }: Ran) => cpuMicros / responded;

async function comparedDirectly(bench: Bench) {
  const open = ({ url }: Bench['ours']) =>
    // Two servers and a busy reader would share two cores: behind the public port the reader sleeps.
    openClosedLoop({ origin: url, requests: bench.requests, connections: CONNECTIONS, staysAwake: true });
  const [bare, ours] = [await open(bench.bare), await open(bench.ours)];
  try {
    await bare.run(WARM_UP_MS.bare);
    await ours.run(WARM_UP_MS.ours);
    const runners = {
      bare: (durationMs: number) => costOf(bench, bench.bare, () => bare.run(durationMs)),
      ours: (durationMs: number) => costOf(bench, bench.ours, () => ours.run(durationMs)),
    };
    await inShortTurns(WARM_UP, runners);
    const rounds = await inShortTurns(bench, runners);
    return {
      throughput: timesOurs(rounds, 'bare', secondsEach),
      cpu: timesOurs(rounds, 'bare', microsEach),
      ours: shown(rounds.map((round) => wholeOf(round.ours))),
      bare: shown(rounds.map((round) => wholeOf(round.bare))),
    };
  } finally {
    for (const loop of [bare, ours]) loop.close();
  }
}

async function comparedBehindPublicPort(bench: Bench): Promise<Compared> {
  const { requests, bare, ours } = bench;
  const measured = async (target: Bench['ours'], durationMs = PORT_TURN_MS) => {
    const origin = await setPublicTarget(bench, target);
    return await costOf(bench, target, async () => {
      const loop = await openClosedLoop({ origin, requests, connections: CONNECTIONS, staysAwake: false });
      return await loop.run(durationMs).finally(loop.close);
    });
  };
  for (const target of [bare, ours]) await measured(target, PORT_WARM_UP_MS);
  const turns = await inTurns(
    bench.rounds,
    () => measured(bare),
    () => measured(ours),
  );
  await setPublicTarget(bench, ours);
  return {
    throughput: paired(eachRound(turns, (ran) => 1 / secondsEach(ran))),
    cpu: paired(eachRound(turns, (ran) => 1 / microsEach(ran))),
    ours: shown(turns.map((turn) => turn.ours)),
    bare: shown(turns.map(({ before }) => before)),
  };
}

function shown(runs: Ran[]) {
  const middle = (figure: (ran: Ran) => number) => rounded(median(runs.map(figure)));
  return {
    perSecond: middle((ran) => 1 / secondsEach(ran)),
    cpuMicros: middle(microsEach),
    publicPortCpuMicros: middle(({ publicPortCpuMicros, responded }) => publicPortCpuMicros / responded),
  };
}

async function costOf(
  { instance }: Bench,
  { pid }: Bench['ours'],
  run: () => Promise<{ responded: number; seconds: number }>,
): Promise<Ran> {
  const pids = [pid, instance.pid('data plane')];
  const before = pids.map((one) => processCost(one).cpuMicros);
  const { responded, seconds } = await run();
  const [cpuMicros = 0, publicPortCpuMicros = 0] = pids.map(
    (one, at) => processCost(one).cpuMicros - (before[at] ?? 0),
  );
  return { responded, seconds, cpuMicros, publicPortCpuMicros };
}
