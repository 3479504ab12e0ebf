/**
 * `npm run bench:distributed`: what Metergate does in distributed mode, with a real broker, key store,
 * Postgres and ClickHouse and the load all on this one. The same load goes to one ingest process and to two
 * in turns, one at either end, so that a difference can be distinguished from noise (G10). Prints and stores
 * figures; asserts nothing. `-- --seconds N` of each run, `-- --rounds N`.
 */
import { readFileSync } from 'node:fs';
import { Redis } from 'iovalkey';
import {
  type DistributedInstallation,
  startInstallation,
} from '../tests/support/distributed-installation.ts';
import { runLoad } from '../tests/support/load-run.ts';
import { processCost } from '../tests/support/process-cost.ts';
import { childrenOf } from '../tests/support/processes.ts';
import { waitUntilCounted } from '../tests/support/wait-until-counted.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript } from './read-options.ts';
import { keepResult } from './result-file.ts';
import { eachRound, inTurns, median, paired, rounded } from './suite/paired.ts';

const OPTIONS = { seconds: { type: 'string' }, rounds: { type: 'string' } } as const;
const CONNECTIONS = 16;
const PROCESSES = 2;
const SPREAD_MS = 600_000;
/** Until what both processes and the broker run is compiled: that costs the same for any number of events. */
const WARM_UP_MS = 10_000;
const DRAIN_PATIENCE_MS = 600_000;
/** As `npm run ingest` starts it. */
const NODE_OPTIONS = '--max-semi-space-size=64';

interface Run {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU-µs per acknowledged event. */
  micros: Record<string, number>;
}

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const durationMs = 1_000 * numberOption('seconds', values.seconds ?? '3', OF_A_SCRIPT.seconds);
  const rounds = numberOption('rounds', values.rounds ?? '4', OF_A_SCRIPT.rounds);
  const environment = { NODE_OPTIONS };
  const installation = await startInstallation({ processes: PROCESSES, connections: 4, environment });
  const redis = new Redis(installation.environment.REDIS_URL ?? '');
  try {
    // The load of what is taken waits, so that what is measured is taking events alone.
    for (const role of installation.roles.aggregator) role.freeze();
    const ingest = await ingestAlone(installation, { durationMs, rounds }, redis);
    for (const role of installation.roles.aggregator) role.thaw();
    const startedAt = performance.now();
    await waitUntilCounted(installation.judged, DRAIN_PATIENCE_MS);
    const untilAllCountedSeconds = rounded((performance.now() - startedAt) / 1_000);
    const everything = await measured(installation, { durationMs, processes: PROCESSES });
    await waitUntilCounted(installation.judged, DRAIN_PATIENCE_MS);
    const shape = { connections: CONNECTIONS, seconds: durationMs / 1_000, rounds };
    const figures = { ...shape, ...ingest, untilAllCountedSeconds, everything };
    process.stdout.write(`${JSON.stringify(figures, null, 2)}\n${keepResult('distributed', figures)}\n`);
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

/** One, two, one, two, one …: each run of two lies between two runs of one. */
async function ingestAlone(
  installation: DistributedInstallation,
  { durationMs, rounds }: { durationMs: number; rounds: number },
  redis: Redis,
): Promise<object> {
  await load(installation, { durationMs: WARM_UP_MS, processes: PROCESSES });
  const before = await keysOf(redis);
  const run = (processes: number) => measured(installation, { durationMs, processes });
  const turns = await inTurns(
    rounds,
    () => run(1),
    () => run(2),
  );
  const after = await keysOf(redis);
  return {
    oneIngest: middling([
      ...turns.slice(0, 1).map(({ before }) => before),
      ...turns.map(({ after }) => after),
    ]),
    twoIngest: middling(turns.map(({ ours }) => ours)),
    // CPU per event with two processes relative to one: less is better.
    G10: paired(eachRound(turns, ({ micros }) => micros.ingest ?? Number.NaN)),
    keyStore: {
      ...after,
      bytesPerKey: Math.round(after.bytes / after.keys),
      bytesPerNewKey: Math.round((after.bytes - before.bytes) / (after.keys - before.keys)),
    },
  };
}

function middling(runs: readonly Run[]): object {
  const of = (pick: (run: Run) => number) => rounded(median(runs.map(pick)));
  const names = Object.keys(runs[0]?.micros ?? {});
  return {
    perSecond: of(({ perSecond }) => perSecond),
    fastestPerSecond: rounded(Math.max(...runs.map(({ perSecond }) => perSecond))),
    responseMs: { p50: of(({ p50Ms }) => p50Ms), p99: of(({ p99Ms }) => p99Ms) },
    cpuMicrosPerEvent: Object.fromEntries(names.map((name) => [name, of(({ micros }) => micros[name] ?? 0)])),
  };
}

interface Phase {
  durationMs: number;
  /** Ingest processes that are sent to. */
  processes: number;
}

async function measured(installation: DistributedInstallation, phase: Phase): Promise<Run> {
  const before = costs(installation);
  const result = await load(installation, phase);
  const after = costs(installation);
  const micros = (name: string) => {
    const spent = (after[name] ?? 0) - (before[name] ?? 0);
    return [name, rounded(spent / result.acknowledged)] as const;
  };
  return {
    perSecond: Math.round((result.acknowledged / result.durationMs) * 1_000),
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    micros: Object.fromEntries(Object.keys(after).map(micros)),
  };
}

/** The slower responses of the two, where there are two. */
async function load(
  { roles, judged, keys }: DistributedInstallation,
  { durationMs, processes }: Phase,
): Promise<{ acknowledged: number; durationMs: number; p50Ms: number; p99Ms: number }> {
  const nowMs = Date.now();
  const common = { durationMs, world: judged.world, nowMs, spreadMs: SPREAD_MS, key: keys.live.secret };
  const connections = CONNECTIONS / processes;
  const runs = roles.ingest.slice(0, processes).map(({ address: { host, port } }, at) => {
    return runLoad({ ...common, origin: `http://${host}:${port}`, nowMs: nowMs + at, connections });
  });
  const all = await Promise.all(runs);
  return {
    acknowledged: all.reduce((sum, { acknowledged }) => sum + acknowledged, 0),
    durationMs: Math.max(...all.map((run) => run.durationMs)),
    p50Ms: Math.max(...all.map(({ latencyMs }) => latencyMs.p50)),
    p99Ms: Math.max(...all.map(({ latencyMs }) => latencyMs.p99)),
  };
}

/** Microseconds of CPU that each has taken so far. The stores are children of this process. */
function costs({ roles }: DistributedInstallation): Record<string, number> {
  const of = (pids: number[]) => pids.reduce((sum, pid) => sum + processCost(pid).cpuMicros, 0);
  const named = (name: string) => childrenOf(process.pid).filter((pid) => programOf(pid) === name);
  const each = {
    ingest: of(roles.ingest.map((role) => role.pid())),
    kafka: of(named('java')),
    keyStore: of(named('redis-server')),
    aggregator: of(roles.aggregator.map((role) => role.pid())),
    load: of([process.pid]),
  };
  return { ...each, together: Object.values(each).reduce((sum, one) => sum + one, 0) };
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

await runScript('bench:distributed', main);
// Exit at once: with a socket that never closes, Node 20 spins in its own clean-up and does not exit.
process.exit();
