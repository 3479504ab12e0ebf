/**
 * `npm run bench:distributed`: what Metergate does past one machine's stores, with a real broker, key store,
 * Postgres and ClickHouse and the load all on this one. Prints and stores figures; asserts nothing. `--
 * --seconds N` of each phase.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Redis } from 'iovalkey';
import { type LoadRunResult, runLoad } from './load-run.ts';
import { commit, machineFacts } from './machine.ts';
import { processCost } from './process-cost.ts';
import { childrenOf } from './processes.ts';
import { type DistributedInstallation, startInstallation } from './torture/distributed/installation.ts';
import { waitUntilCounted } from './wait-until-counted.ts';

const OPTIONS = { seconds: { type: 'string' } } as const;
const CONNECTIONS = 16;
const PROCESSES = 2;
const SPREAD_MS = 600_000;
const WARM_UP_MS = 3_000;
const DRAIN_PATIENCE_MS = 180_000;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const durationMs = 1_000 * Number(values.seconds ?? 10);
  const installation = await startInstallation({ processes: PROCESSES, connections: 4 });
  const redis = new Redis(installation.environment.REDIS_URL ?? '');
  try {
    const figures: Record<string, unknown> = {};
    // The load waits, so that what is measured is taking events alone.
    for (const role of installation.roles.aggregator) role.freeze();
    await load(installation, { durationMs: WARM_UP_MS, processes: PROCESSES });
    figures.oneIngest = await measured(installation, { durationMs, processes: 1 });
    const before = await keysOf(redis);
    figures.twoIngest = await measured(installation, { durationMs, processes: 2 });
    const after = await keysOf(redis);
    figures.keyStore = {
      ...after,
      bytesPerKey: Math.round(after.bytes / after.keys),
      bytesPerNewKey: Math.round((after.bytes - before.bytes) / (after.keys - before.keys)),
    };
    for (const role of installation.roles.aggregator) role.thaw();
    const startedAt = performance.now();
    await waitUntilCounted(installation.judged, DRAIN_PATIENCE_MS);
    figures.untilAllCountedSeconds = (performance.now() - startedAt) / 1_000;
    figures.everything = await measured(installation, { durationMs, processes: 2 });
    await waitUntilCounted(installation.judged, DRAIN_PATIENCE_MS);
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
    store(figures);
  } catch (error) {
    for (const role of Object.values(installation.roles).flat()) {
      process.stderr.write(`${role.role}: ${role.log()}\n`);
    }
    throw error;
  } finally {
    redis.disconnect();
    await installation.close();
  }
}

interface Phase {
  durationMs: number;
  /** Ingest processes that are sent to. */
  processes: number;
}

async function measured(installation: DistributedInstallation, phase: Phase): Promise<object> {
  const before = costs(installation);
  const result = await load(installation, phase);
  const after = costs(installation);
  const micros = (name: string) => {
    const spent = (after[name] ?? 0) - (before[name] ?? 0);
    return [name, Math.round((spent / result.acknowledged) * 100) / 100] as const;
  };
  return {
    acknowledged: result.acknowledged,
    acknowledgedPerSecond: Math.round((result.acknowledged / result.durationMs) * 1_000),
    answerMs: result.latencyMs,
    cpuMicrosPerEvent: Object.fromEntries(Object.keys(after).map(micros)),
  };
}

async function load(
  { roles, judged, keys }: DistributedInstallation,
  { durationMs, processes }: Phase,
): Promise<LoadRunResult> {
  const nowMs = Date.now();
  const common = { durationMs, world: judged.world, nowMs, spreadMs: SPREAD_MS, key: keys.live.secret };
  const runs = roles.ingest
    .slice(0, processes)
    .map(({ address }, at) =>
      runLoad({ ...common, ...address, nowMs: nowMs + at, connections: CONNECTIONS / processes }),
    );
  const all = await Promise.all(runs);
  const [first] = all;
  if (!first) throw new Error('There is no ingest process.');
  return { ...first, acknowledged: all.reduce((sum, { acknowledged }) => sum + acknowledged, 0) };
}

/** Microseconds of CPU that each has taken so far. The stores are children of this process. */
function costs({ roles }: DistributedInstallation): Record<string, number> {
  const of = (pids: number[]) => pids.reduce((sum, pid) => sum + processCost(pid).cpuMicros, 0);
  const named = (name: string) => childrenOf(process.pid).filter((pid) => programOf(pid) === name);
  return {
    ingest: of(roles.ingest.map((role) => role.pid())),
    aggregator: of(roles.aggregator.map((role) => role.pid())),
    kafka: of(named('java')),
    keyStore: of(named('redis-server')),
    load: of([process.pid]),
  };
}

function programOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}

const COUNT_KEYS = `
local keys = 0
for _, name in ipairs(redis.call('KEYS', ARGV[1])) do
  if redis.call('TYPE', name).ok == 'hash' then keys = keys + redis.call('HLEN', name) end
end
return keys`;

async function keysOf(redis: Redis): Promise<{ keys: number; bytes: number }> {
  const bytes = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  return { keys: Number(await redis.eval(COUNT_KEYS, 0, 'metergate:*')), bytes };
}

function store(figures: object): void {
  const at = new Date().toISOString();
  mkdirSync('bench/results', { recursive: true });
  const result = { at, commit: commit(), ...machineFacts(), ...figures };
  const path = `bench/results/distributed-${at.slice(0, 16).replace(':', '')}.json`;
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
}

await main();
