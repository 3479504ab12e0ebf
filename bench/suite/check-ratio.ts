import { dataDirAt } from '../../infra/data-dir.ts';
import { type Endpoints, readEndpoints, writeEndpoints } from '../../infra/endpoints-file.ts';
import { type Api, createApi, getPatiently } from '../api.ts';
import { startBaseline } from '../baselines/start-baseline.ts';
import { runClosedLoop } from '../closed-loop.ts';
import type { Instance } from '../instance.ts';
import { processCost } from '../process-cost.ts';
import { eachRound, inTurns, median, paired, rounded } from './paired.ts';

const CUSTOMERS = 200;
const FEATURES = ['sso', 'seats', 'calls'] as const;
const CONNECTIONS = 32;
/** The door reads every 100 ms where the control side is. */
const MOVED_MS = 200;
/** Ours is ten times slower in its first two seconds, until it is compiled and has everybody in memory. */
const WARM_UP_MS = { directly: 3_000, throughTheDoor: 1_000 };

export interface CheckRatios {
  customers: number;
  features: readonly string[];
  connections: number;
  directly: Compared;
  throughTheDoor: Compared;
}

/**
 * Warm checks of entitlements beside a bare Koa that answers a constant: directly, and both through the
 * public door. In turns, bare, ours, bare: bare beside bare is the control, and must read 1.00 ± 0.05.
 */
export async function compareChecks(
  instance: Instance,
  { rounds, durationMs }: { rounds: number; durationMs: number },
): Promise<CheckRatios> {
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
      durationMs,
      requests: paths.map((path) => requestOf(path, key)),
      bare: bareKoa,
      ours: { url: endpointsOf(instance).controlUrl, pid: instance.pid('control side') },
    };
    try {
      const directly = await compared(bench, ({ url }) => url, WARM_UP_MS.directly);
      const throughTheDoor = await compared(
        bench,
        (target) => behindTheDoor(bench, target),
        WARM_UP_MS.throughTheDoor,
      );
      return { customers: CUSTOMERS, features: FEATURES, connections: CONNECTIONS, directly, throughTheDoor };
    } finally {
      // Else the door goes on asking a server that is gone, whatever ended the measuring.
      await behindTheDoor(bench, bench.ours).finally(() => bareKoa.stop());
    }
  } finally {
    await api.close();
  }
}

interface Bench {
  instance: Instance;
  rounds: number;
  durationMs: number;
  /** Of every customer and feature. */
  requests: Buffer[];
  bare: { url: string; pid: number };
  ours: { url: string; pid: number };
}

/** Each with a subscription of its own, so that no two have the same period. Their ids. */
async function makeCustomers(api: Api): Promise<string[]> {
  const made = async (path: string, body: object) => {
    const answer = await api.call('POST', path, { body: JSON.stringify(body) });
    if (answer.status >= 300) throw new Error(`POST ${path} was answered ${answer.status}`);
    return (answer.body as { id: string }).id;
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
  await api.call('PUT', `/plans/${planId}/entitlements`, { body: JSON.stringify({ entitlements }) });
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
  const { status } = await api.call('POST', '/usage/events/batch', { body: JSON.stringify({ events }) });
  if (status !== 200) throw new Error(`usage was answered ${status}`);
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

/** The same door before another server. */
async function behindTheDoor({ instance }: Bench, { url }: { url: string }): Promise<string> {
  const endpoints = endpointsOf(instance);
  if (endpoints.controlUrl === url) return instance.origin;
  writeEndpoints(dataDirAt(instance.dataDir).endpoints, { ...endpoints, controlUrl: url });
  await new Promise((moved) => setTimeout(moved, MOVED_MS));
  return instance.origin;
}

interface Run {
  perSecond: number;
  /** Of the server that answers; the door's stand beside it. */
  cpuMicros: number;
  doorCpuMicros: number;
}

/** Medians over all rounds, and every round. Above 1: ours is better. */
async function compared(
  bench: Bench,
  reach: (target: Bench['ours']) => string | Promise<string>,
  warmUpMs: number,
) {
  const measured = async (target: Bench['ours']) => measure(bench, target, await reach(target));
  const warmUp = { ...bench, durationMs: warmUpMs };
  for (const target of [bench.bare, bench.ours]) await measure(warmUp, target, await reach(target));
  const turns = await inTurns(
    bench.rounds,
    () => measured(bench.bare),
    () => measured(bench.ours),
  );
  await reach(bench.ours);
  return {
    throughput: paired(eachRound(turns, ({ perSecond }) => perSecond)),
    cpu: paired(eachRound(turns, ({ cpuMicros }) => 1 / cpuMicros)),
    ours: shown(turns.map(({ ours }) => ours)),
    bare: shown(turns.map(({ before }) => before)),
  };
}

type Compared = Awaited<ReturnType<typeof compared>>;

function shown(runs: Run[]) {
  const middle = (name: keyof Run) => rounded(median(runs.map((run) => run[name])));
  return {
    perSecond: middle('perSecond'),
    cpuMicros: middle('cpuMicros'),
    doorCpuMicros: middle('doorCpuMicros'),
  };
}

async function measure(bench: Bench, target: Bench['ours'], origin: string): Promise<Run> {
  const { requests, durationMs, instance } = bench;
  const door = instance.pid('data plane');
  const before = [target.pid, door].map((pid) => processCost(pid).cpuMicros);
  const { answered, seconds } = await runClosedLoop({
    origin,
    requests,
    connections: CONNECTIONS,
    durationMs,
    // Two servers and a reader that is always awake would share two cores.
    staysAwake: origin !== instance.origin,
  });
  const [cpu = 0, doorCpu = 0] = [target.pid, door].map(
    (pid, at) => processCost(pid).cpuMicros - (before[at] ?? 0),
  );
  return { perSecond: answered / seconds, cpuMicros: cpu / answered, doorCpuMicros: doorCpu / answered };
}
