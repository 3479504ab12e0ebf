/**
 * `npm run bench:phases`: what the embedded Metergate does on this machine, with the load on the same cores.
 * Prints and stores figures; asserts nothing. `-- --quick` runs each phase for a few seconds, `-- --rate N`
 * sets the events per second of the sustained phase, `-- --phase NAME` (may repeat) picks phases. Events
 * occurred in the last ten minutes, as metering SDKs stream them; `-- --spread-days N` spreads them like a
 * backfill.
 */

import { type Api, getPatiently } from '../tests/support/api.ts';
import { during } from '../tests/support/during.ts';
import { startFreshnessProbe } from '../tests/support/freshness-probe.ts';
import type { Instance } from '../tests/support/instance.ts';
import { type LoadRunResult, runLoad } from '../tests/support/load-run.ts';
import { makeWorld } from '../tests/support/make-world.ts';
import { processCost } from '../tests/support/process-cost.ts';
import { whilePaused } from '../tests/support/processes.ts';
import { startSenders } from '../tests/support/senders.ts';
import { waitUntilCounted } from '../tests/support/wait-until-counted.ts';
import type { World } from '../tests/support/world.ts';
import { countedEvents } from './counted-events.ts';
import { instanceCosts, measureInstance, microsSince, rssPeaksMib } from './measure-instance.ts';
import { numberOption, OF_A_SCRIPT, readOptions, runScript, Unusable } from './read-options.ts';
import { keepResult } from './result-file.ts';
import { spreadOf, timed, toOneDigit } from './samples.ts';

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
  await measureInstance(4, async ({ instance, api }) => {
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
  });
}

/** The data plane under load; the control side is paused meanwhile. */
async function ingestAlone(bench: Bench): Promise<object> {
  await load(bench, { durationMs: 1_000 });
  const run = await whilePaused(bench.instance.pid('control side'), () =>
    measured(bench, () => load(bench, { durationMs: bench.phaseMs })),
  );
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
  const before = await allCountedEvents(bench);
  const probe = startFreshnessProbe(api, world.customers[0]?.id ?? '', `probe_${Date.now()}`);
  const startedAt = performance.now();
  const run = await measured(bench, () => load(bench, { durationMs: sustainedMs, rate }));
  await waitUntilCounted(bench, DRAIN_PATIENCE_MS);
  const untilAllCountedSeconds = (performance.now() - startedAt) / 1_000;
  const freshness = await probe.stop();
  const counted = (await allCountedEvents(bench)) - before;
  return {
    offeredPerSecond: rate,
    ...run,
    counted,
    untilAllCountedSeconds,
    countedPerSecond: Math.round(counted / untilAllCountedSeconds),
    fromResponseToCountedMs: { samples: freshness.length, ...spreadOf(freshness, toOneDigit) },
  };
}

/** Counters and load at half the rate, without and with large breakdowns that run one after the other. */
async function duringBreakdowns(bench: Bench): Promise<object> {
  const without = await countersUnderLoad(bench);
  const path = `/usage/${bench.world.customers[0]?.id}/api_calls/breakdown?dimension=user&window=all`;
  const { reading, times } = readAgain(bench, path, DRAIN_PATIENCE_MS);
  const { done: withBreakdown } = await during(reading, () => countersUnderLoad(bench));
  const breakdownMs = { count: times.length, ...spreadOf(times, toOneDigit) };
  return { without, withBreakdown, breakdownMs };
}

async function countersUnderLoad(bench: Bench): Promise<object> {
  const path = `/usage/${bench.world.customers[1]?.id}/tokens?consistency=eventual`;
  const { reading, times } = readAgain(bench, path, 10_000);
  const startedAt = performance.now();
  const half = { durationMs: bench.phaseMs, rate: bench.rate / 2 };
  const { done: run } = await during(reading, () => load(bench, half));
  await waitUntilCounted(bench, DRAIN_PATIENCE_MS);
  const untilAllCountedSeconds = (performance.now() - startedAt) / 1_000;
  const counterMs = spreadOf(times, toOneDigit);
  return { acknowledged: run.acknowledged, untilAllCountedSeconds, counterMs };
}

/** Reads one path again and again until it is stopped. */
function readAgain({ api }: Bench, path: string, patienceMs: number) {
  const times: number[] = [];
  const send = async () => void times.push(await timed(() => getPatiently(api, path, patienceMs)));
  return { times, reading: startSenders({ senders: 1, send }) };
}

function load(bench: Bench, options: { durationMs: number; rate?: number }): Promise<LoadRunResult> {
  const { instance, world, spreadMs } = bench;
  const to = { origin: instance.origin, key: instance.keys().live.secret, connections: CONNECTIONS };
  return runLoad({ ...options, ...to, world, nowMs: Date.now(), spreadMs });
}

/** Adds rates, latencies and what each process cost per acknowledged event. */
async function measured(bench: Bench, run: () => Promise<LoadRunResult>) {
  const before = costs(bench);
  const result = await run();
  const after = costs(bench);
  const perEvent = (micros: number) => Math.round((micros / result.acknowledged) * 100) / 100;
  return {
    acknowledged: result.acknowledged,
    seconds: result.durationMs / 1_000,
    acknowledgedPerSecond: Math.round((result.acknowledged / result.durationMs) * 1_000),
    responseMs: result.latencyMs,
    cpuMicrosPerEvent: microsSince(before, after, perEvent),
    rssPeakMib: rssPeaksMib(after),
  };
}

function costs({ instance }: Bench) {
  return { ...instanceCosts(instance), load: processCost(process.pid) };
}

/** All events that the breakdowns count now, without waiting for more. */
async function allCountedEvents({ api, world }: Bench): Promise<number> {
  let sum = 0;
  for (const { id: customer } of world.customers) {
    for (const { key: meterKey } of world.meters.filter(({ declared }) => declared)) {
      sum += await countedEvents(api, { customer, meterKey }, '&consistency=eventual');
    }
  }
  return sum;
}

function store(figures: Record<string, unknown>, { rate, spreadMs, phaseMs, sustainedMs }: Bench): void {
  keepResult('load', { rate, spreadMs, phaseMs, sustainedMs, ...figures });
}

await runScript('bench:phases', main);
