/**
 * `npm run bench:check`: goal G8, a warm check of an entitlement beside a bare Koa that answers a constant,
 * on an otherwise idle instance: directly, and both through the public door. In turns, bare, ours, bare, so
 * that each pair has its control: bare beside bare must read 1.00 ± 0.05. Prints and stores figures; asserts
 * nothing. `-- --rounds N`, `-- --seconds N` of each run.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dataDirAt } from '../infra/data-dir.ts';
import { type Endpoints, readEndpoints, writeEndpoints } from '../infra/endpoints-file.ts';
import { type Api, createApi, getPatiently } from './api.ts';
import { runClosedLoop } from './closed-loop.ts';
import { percentile } from './freshness-probe.ts';
import { type Instance, startInstance } from './instance.ts';
import { commit, machineFacts } from './machine.ts';
import { processCost } from './process-cost.ts';

const OPTIONS = {
  rounds: { type: 'string', default: '9' },
  seconds: { type: 'string', default: '2' },
} as const;
const CUSTOMERS = 200;
const FEATURES = ['sso', 'seats', 'calls'] as const;
const CONNECTIONS = 32;
/** Of each server before its first round, in two turns: every customer and feature 40 times over. */
const WARM_ANSWERS = 12_000;
/** The door reads every 100 ms where the control side is. */
const MOVED_MS = 300;

interface Bench {
  instance: Instance;
  rounds: number;
  durationMs: number;
  /** Of every customer and feature. */
  requests: Buffer[];
  bare: { url: string; pid: number };
  ours: { url: string; pid: number };
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const instance = await startInstance({ LOG_LEVEL: 'warn' });
  const key = instance.keys().live.secret;
  const api = createApi({ origin: instance.origin, key, connections: 4 });
  let bareKoa: ChildProcess | undefined;
  try {
    const customers = await makeCustomers(api);
    await useSome(api, customers);
    const headers = { authorization: `Bearer ${key}` };
    const url = `${instance.origin}/api/v1/entitlements/${customers[0]}/calls`;
    bareKoa = startBareKoa(await (await fetch(url, { headers })).text());
    const paths = customers.flatMap((id) => FEATURES.map((feature) => `/entitlements/${id}/${feature}`));
    const bench: Bench = {
      instance,
      rounds: Number(values.rounds),
      durationMs: Number(values.seconds) * 1000,
      requests: paths.map((path) => requestOf(path, key)),
      bare: { url: await urlOf(bareKoa), pid: bareKoa.pid ?? 0 },
      ours: { url: endpointsOf(instance).controlUrl, pid: instance.pid('control side') },
    };
    const directly = await compared(bench, ({ url }) => url);
    process.stdout.write(`directly ${JSON.stringify(directly, null, 2)}\n`);
    const throughTheDoor = await compared(bench, (target) => behindTheDoor(bench, target));
    process.stdout.write(`throughTheDoor ${JSON.stringify(throughTheDoor, null, 2)}\n`);
    store({ customers: CUSTOMERS, features: FEATURES, connections: CONNECTIONS, directly, throughTheDoor });
  } finally {
    bareKoa?.kill();
    await api.close();
    await instance.remove();
  }
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
  const customers: string[] = [];
  for (let at = 0; at < CUSTOMERS; at += 1) {
    const customerId = await made('/customers', { name: `C ${at}`, email: `c${at}@example.com` });
    await made('/subscriptions', { customerId, planId });
    customers.push(customerId);
  }
  return customers;
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

function startBareKoa(constant: string): ChildProcess {
  const script = fileURLToPath(new URL('bare-koa.js', import.meta.url));
  return spawn(process.execPath, [script, constant], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('nothing is heard of it');
  const [line] = (await once(stdout, 'data')) as [Buffer];
  return line.toString().trim();
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
  writeEndpoints(dataDirAt(instance.dataDir).endpoints, { ...endpointsOf(instance), controlUrl: url });
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
async function compared(bench: Bench, reach: (target: Bench['ours']) => string | Promise<string>) {
  const measured = async (target: Bench['ours']) => measure(bench, target, await reach(target));
  for (const target of [bench.bare, bench.ours, bench.bare, bench.ours])
    await warm(bench, await reach(target));
  const rounds: Array<{ before: Run; ours: Run; after: Run }> = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const before = await measured(bench.bare);
    const ours = await measured(bench.ours);
    rounds.push({ before, ours, after: await measured(bench.bare) });
  }
  await reach(bench.ours);
  const both = (name: keyof Run, { before, after }: { before: Run; after: Run }) =>
    (before[name] + after[name]) / 2;
  const median = (values: number[]) => Math.round(percentile(values, 50) * 1000) / 1000;
  return {
    throughput: median(rounds.map((round) => round.ours.perSecond / both('perSecond', round))),
    throughputControl: median(rounds.map(({ before, after }) => after.perSecond / before.perSecond)),
    cpu: median(rounds.map((round) => both('cpuMicros', round) / round.ours.cpuMicros)),
    cpuControl: median(rounds.map(({ before, after }) => before.cpuMicros / after.cpuMicros)),
    ours: shown(rounds.map(({ ours }) => ours)),
    bare: shown(rounds.flatMap(({ before, after }) => [before, after])),
  };
}

/** Nothing is left to be read first, and what runs is compiled; of both the same. */
async function warm({ requests }: Bench, origin: string): Promise<void> {
  const load = { origin, requests, connections: CONNECTIONS, durationMs: 300 };
  for (let answers = 0; answers < WARM_ANSWERS; ) answers += (await runClosedLoop(load)).answered;
}

function shown(runs: Run[]) {
  const median = (name: keyof Run) =>
    Math.round(
      percentile(
        runs.map((run) => run[name]),
        50,
      ) * 10,
    ) / 10;
  return {
    perSecond: median('perSecond'),
    cpuMicros: median('cpuMicros'),
    doorCpuMicros: median('doorCpuMicros'),
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
  });
  const [cpu = 0, doorCpu = 0] = [target.pid, door].map(
    (pid, at) => processCost(pid).cpuMicros - (before[at] ?? 0),
  );
  return { perSecond: answered / seconds, cpuMicros: cpu / answered, doorCpuMicros: doorCpu / answered };
}

function store(figures: object): void {
  const at = new Date().toISOString();
  mkdirSync('bench/results', { recursive: true });
  const file = `bench/results/check-${at.slice(0, 16).replace(':', '')}.json`;
  writeFileSync(
    file,
    `${JSON.stringify({ at, commit: commit(), ...machineFacts(), ...figures }, null, 2)}\n`,
  );
  process.stdout.write(`${file}\n`);
}

await main();
