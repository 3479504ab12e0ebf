/**
 * `npm run bench:phases`: what the embedded Metergate does on this machine, with the load on the same cores.
 * Prints and stores figures; asserts nothing. `-- --quick` runs each phase for a few seconds, `-- --rate N`
 * sets the events per second of the sustained phase, `-- --phase NAME` (may repeat) picks phases. Events
 * occurred in the last ten minutes, as metering SDKs stream them; `-- --spread-days N` spreads them like a
 * backfill.
 */

import { type Api, getPatiently } from '../tests/support/api.ts';
import { numberText } from '../tests/support/exact.ts';
import { percentile, startFreshnessProbe } from '../tests/support/freshness-probe.ts';
import type { Instance } from '../tests/support/instance.ts';
import { type LoadRunResult, runLoad } from '../tests/support/load-run.ts';
import { makeWorld } from '../tests/support/make-world.ts';
import { openInstance } from '../tests/support/open-instance.ts';
import { familyCost, type ProcessCost, processCost } from '../tests/support/process-cost.ts';
import { waitUntilCounted } from '../tests/support/wait-until-counted.ts';
import type { World } from '../tests/support/world.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript, Unusable } from './read-options.ts';
import { keepResult } from './result-file.ts';

interface Bench {
  instance: Instance;
  api: Api;
  world: World;
  phaseMs: number;
  sustainedMs: number;
  rate: number;
  spreadMs: number;
}

const OPTIONS = {
  quick: { type: 'boolean' },
  rate: { type: 'string' },
  'spread-days': { type: 'string' },
  phase: { type: 'string', multiple: true },
} as const;
const DAY_MS = 86_400_000;
const LIVE_SPREAD_MS = 600_000;
const SPREAD_DAYS = { from: 0, to: 365 };
const CONNECTIONS = 6;
const DRAIN_PATIENCE_MS = 120_000;

async function main(): Promise<void> {
  const values = readOptions(OPTIONS);
  const rate = numberOption('rate', values.rate ?? '80000', OF_A_SCRIPT.rate);
  const spreadDays = numberOption('spread-days', values['spread-days'] ?? '0', SPREAD_DAYS);
  const all = [ingestAlone, closedLoop, sustained, duringBreakdowns];
  const unknown = values.phase?.find((wished) => !all.some(({ name }) => name === wished));
  if (unknown !== undefined) {
    throw new Unusable(`--phase ${unknown} is none of ${all.map(({ name }) => name).join(', ')}`);
  }
  const { instance, api, close } = await openInstance({ LOG_LEVEL: 'warn' }, { connections: 4 });
  try {
    const bench: Bench = {
      instance,
      api,
      world: await makeWorld(api),
      phaseMs: values.quick ? 4_000 : 15_000,
      sustainedMs: values.quick ? 8_000 : 60_000,
      rate,
      spreadMs: spreadDays * DAY_MS || LIVE_SPREAD_MS,
    };
    const phases = all.filter(({ name }) => values.phase?.includes(name) ?? true);
    const figures: Record<string, unknown> = {};
    for (const phase of phases) {
      figures[phase.name] = await phase(bench);
      process.stdout.write(`${phase.name} ${JSON.stringify(figures[phase.name], null, 2)}\n`);
    }
    store(figures, bench);
  } catch (error) {
    process.stderr.write(`${instance.log()}\n`);
    throw error;
  } finally {
    await close();
  }
}

/** The data plane under load; the control side is paused meanwhile. */
async function ingestAlone(bench: Bench): Promise<object> {
  const controlSide = bench.instance.pid('control side');
  await load(bench, { durationMs: 1_000 });
  process.kill(controlSide, 'SIGSTOP');
  const run = await measured(bench, () => load(bench, { durationMs: bench.phaseMs })).finally(() => {
    process.kill(controlSide, 'SIGCONT');
  });
  await waitUntilCounted(bench, DRAIN_PATIENCE_MS);
  return run;
}

/** Everything at once, as fast as responses come; the rate counted includes the time until nothing waits. */
async function closedLoop(bench: Bench): Promise<object> {
  const startedAt = performance.now();
  const run = await measured(bench, () => load(bench, { durationMs: bench.phaseMs }));
  await waitUntilCounted(bench, DRAIN_PATIENCE_MS);
  const seconds = (performance.now() - startedAt) / 1_000;
  return {
    ...run,
    countedPerSecond: Math.round(run.acknowledged / seconds),
    untilAllCountedSeconds: seconds,
  };
}

/** A fixed rate offered for the whole time: does the count keep up, and how old is it? */
async function sustained(bench: Bench): Promise<object> {
  const { api, world, rate, sustainedMs } = bench;
  const before = await countedEvents(bench);
  const probe = startFreshnessProbe(api, world.customers[0]?.id ?? '', `probe_${Date.now()}`);
  const startedAt = performance.now();
  const run = await measured(bench, () => load(bench, { durationMs: sustainedMs, rate }));
  await waitUntilCounted(bench, DRAIN_PATIENCE_MS);
  const untilAllCountedSeconds = (performance.now() - startedAt) / 1_000;
  const freshness = await probe.stop();
  const counted = (await countedEvents(bench)) - before;
  return {
    offeredPerSecond: rate,
    ...run,
    counted,
    untilAllCountedSeconds,
    countedPerSecond: Math.round(counted / untilAllCountedSeconds),
    fromResponseToCountedMs: { samples: freshness.length, ...spread(freshness) },
  };
}

/** Counters and load at half the rate, without and with large breakdowns that run one after the other. */
async function duringBreakdowns(bench: Bench): Promise<object> {
  const without = await countersUnderLoad(bench);
  let over = false;
  const breakdowns: number[] = [];
  const reading = (async () => {
    const path = `/usage/${bench.world.customers[0]?.id}/api_calls/breakdown?dimension=user&window=all`;
    while (!over) {
      const startedAt = performance.now();
      await getPatiently(bench.api, path, DRAIN_PATIENCE_MS);
      breakdowns.push(performance.now() - startedAt);
    }
  })();
  const withBreakdown = await countersUnderLoad(bench);
  over = true;
  await reading;
  return { without, withBreakdown, breakdownMs: { count: breakdowns.length, ...spread(breakdowns) } };
}

async function countersUnderLoad(bench: Bench): Promise<object> {
  const { api, world } = bench;
  let over = false;
  const counters: number[] = [];
  const reading = (async () => {
    while (!over) {
      const startedAt = performance.now();
      await getPatiently(api, `/usage/${world.customers[1]?.id}/tokens?consistency=eventual`, 10_000);
      counters.push(performance.now() - startedAt);
    }
  })();
  const startedAt = performance.now();
  const run = await load(bench, { durationMs: bench.phaseMs, rate: bench.rate / 2 });
  over = true;
  await reading;
  await waitUntilCounted(bench, DRAIN_PATIENCE_MS);
  const untilAllCountedSeconds = (performance.now() - startedAt) / 1_000;
  return { acknowledged: run.acknowledged, untilAllCountedSeconds, counterMs: spread(counters) };
}

function load(bench: Bench, options: { durationMs: number; rate?: number }): Promise<LoadRunResult> {
  const { instance, world, spreadMs } = bench;
  const { host, port } = new URL(instance.origin);
  const key = instance.keys().live.secret;
  const connections = CONNECTIONS;
  const to = { host, port: Number(port), key, connections };
  return runLoad({ ...options, ...to, world, nowMs: Date.now(), spreadMs });
}

/** Adds rates, latencies and what each process cost per acknowledged event. */
async function measured(bench: Bench, run: () => Promise<LoadRunResult>) {
  const before = costs(bench);
  const result = await run();
  const after = costs(bench);
  const cpuMicrosPerEvent: Record<string, number> = {};
  const rssPeakMib: Record<string, number> = {};
  for (const [name, cost] of Object.entries(after)) {
    const spent = cost.cpuMicros - (before[name]?.cpuMicros ?? 0);
    cpuMicrosPerEvent[name] = Math.round((spent / result.acknowledged) * 100) / 100;
    rssPeakMib[name] = Math.round(cost.rssPeakBytes / 2 ** 20);
  }
  return {
    acknowledged: result.acknowledged,
    seconds: result.durationMs / 1_000,
    acknowledgedPerSecond: Math.round((result.acknowledged / result.durationMs) * 1_000),
    responseMs: result.latencyMs,
    cpuMicrosPerEvent,
    rssPeakMib,
  };
}

function costs({ instance }: Bench): Record<string, ProcessCost> {
  return {
    dataPlane: processCost(instance.pid('data plane')),
    controlSide: processCost(instance.pid('control side')),
    postgres: familyCost(instance.pid('postgres')),
    load: processCost(process.pid),
  };
}

/** All events that the breakdowns count now, without waiting for more. */
async function countedEvents({ api, world }: Bench): Promise<number> {
  let sum = 0;
  for (const customer of world.customers) {
    for (const meter of world.meters.filter(({ declared }) => declared)) {
      const query = 'dimension=$month&window=all&consistency=eventual';
      const response = await getPatiently(
        api,
        `/usage/${customer.id}/${meter.key}/breakdown?${query}`,
        60_000,
      );
      const { breakdown } = response.body as { breakdown: Array<{ count: unknown }> };
      for (const { count } of breakdown) sum += Number(numberText(count));
    }
  }
  return sum;
}

function spread(samples: number[]): object {
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    p50: round(percentile(samples, 50)),
    p99: round(percentile(samples, 99)),
    max: round(percentile(samples, 100)),
  };
}

function store(figures: Record<string, unknown>, { rate, spreadMs, phaseMs, sustainedMs }: Bench): void {
  keepResult('load', { rate, spreadMs, phaseMs, sustainedMs, ...figures });
}

await runScript('bench:phases', main);
