/**
 * `npm run bench`: every goal of the table on the code as it is, as ratios of candidates run in turn in one
 * session. Prints the table, stores it with all figures, and renews bench/README.md and the page next to the
 * result. Asserts nothing. `-- --quick` is the short form (two minutes), `-- --scale` the long one, with
 * `--millions 1,10,50` of events stored and `--minutes 10` at a fixed rate; `-- --skip PART` leaves parts out
 * (they then stand as not measured). Interrupted it keeps and prints what it has, and leaves the README as it
 * is. Exit codes: 1 a part could not be measured, 2 the arguments cannot be used, 130 it was interrupted.
 */
import { writeFileSync } from 'node:fs';
import { dataDirAt } from '../../infra/platform/data-dir.ts';
import { signal } from '../../infra/platform/process-identity.ts';
import { processCost } from '../../tests/support/process-cost.ts';
import { descendantsOf } from '../../tests/support/processes.ts';
import { runBaseline } from '../baselines/start-baseline.ts';
import { INTERRUPTED_CODE, interruption } from '../interruption.ts';
import { instanceCosts, microsSince, rssPeaksMib } from '../measure-instance.ts';
import { Unusable } from '../read-options.ts';
import { keepResult } from '../result-file.ts';
import { compareChecks } from './check-ratio.ts';
import { distributedRatio } from './distributed-ratio.ts';
import { drive } from './drive.ts';
import { GOALS, type Measured } from './goals.ts';
import { ingestRatios } from './ingest-ratios.ts';
import { latencyRatio } from './latency-ratio.ts';
import { rounded } from './paired.ts';
import { reportPage } from './report-page.ts';
import { runParts } from './run-parts.ts';
import { soak, usageGrowth } from './scale.ts';
import { bytesBelow, openScenario, type Scenario, toward, waitForAll } from './scenario.ts';
import { readSuiteArguments, type Sizes } from './suite-arguments.ts';
import type { SuiteResult } from './suite-result.ts';
import { goalTable, renewReadme } from './table.ts';
import { take } from './take.ts';
import { counters, freshness, storedInAll } from './usage-ratios.ts';

const CHILD_PATIENCE_MS = 240_000;
/** Where the capacity was not measured. */
const SOAK_RATE = 60_000;
const LEFT_OUT: Measured = { id: 'G10', note: 'left out of this form: npm run bench:distributed' };

/** A part that handles an interruption itself and still reads responses and counters ends within this. */
const GRACE_MS = { soak: 45_000 };

type Part = (
  scenario: Scenario,
  sizes: Sizes,
  result: SuiteResult,
  interrupted: AbortSignal,
) => Promise<void>;

async function main(interrupted: AbortSignal): Promise<void> {
  const { form, sizes, skip } = readSuiteArguments(process.argv.slice(2), Object.keys(PARTS));
  process.on('exit', endChildren);
  // An abandoned part fails when its instance ends, and no caller awaits it any more.
  interrupted.addEventListener('abort', () => process.on('unhandledRejection', () => undefined));
  const result: SuiteResult = { form, seed: 1, sizes, measured: [LEFT_OUT], seconds: {}, failed: {} };
  const scenario = await openScenario(sizes);
  try {
    const names = Object.keys(PARTS).filter((name) => !skip.includes(name));
    const begin = async (name: string) => PARTS[name]?.(scenario, sizes, result, interrupted);
    await runParts(names, { begin, interrupted, graceMs: GRACE_MS }, result);
    printResult(result);
  } finally {
    // By force: that ends a control side that a part still holds, too.
    await scenario.close();
  }
  // What a part that was left still waits for would keep this process for minutes.
  if (result.interrupted) process.exit(INTERRUPTED_CODE);
}

/** Nothing that a part has started outlives the suite, however that ends. */
function endChildren(): void {
  for (const pid of descendantsOf(process.pid)) signal(pid, 'SIGKILL');
}

function printResult(result: SuiteResult): void {
  result.measured.sort((a, b) => place(a) - place(b));
  const path = keepResult('suite', result);
  const page = path.replace(/json$/, 'html');
  writeFileSync(page, reportPage(path));
  process.stdout.write(`${goalTable(result)}\n\n${path}\n${page}\n`);
  if (result.interrupted) return;
  renewReadme(path);
  if (Object.keys(result.failed).length > 0) process.exitCode = 1;
}

function place({ id }: Measured): number {
  return GOALS.findIndex((goal) => goal.id === id);
}

/** In this order: the later parts need what the first ones store. */
const PARTS: Record<string, Part> = {
  async stages(_, { stageBatches }, result) {
    const args = ['../suite/stage-costs', CHILD_PATIENCE_MS, String(stageBatches)] as const;
    result.stages = (await runBaseline(...args)) as NonNullable<SuiteResult['stages']>;
  },

  async keys(_, { keyMillions, rounds }, result) {
    const args = ['../suite/key-growth', CHILD_PATIENCE_MS, keyMillions, String(rounds)] as const;
    const { measured, curve } = (await runBaseline(...args)) as {
      measured: Measured;
      curve: NonNullable<SuiteResult['keyCurve']>;
    };
    result.measured.push(measured);
    result.keyCurve = curve;
  },

  /** Ahead of all that leaves the warehouse something to merge: a warm check is one of an idle instance. */
  async checks({ instance }, { checkRounds, runMs }, result) {
    const checks = await compareChecks(instance, { rounds: checkRounds, runMs });
    result.checks = checks;
    const { directly, behindPublicPort } = checks;
    const byCpu = `by CPU ${directly.cpu.value} and ${behindPublicPort.cpu.value}`;
    const note = `directly; behind the public port ${behindPublicPort.throughput.value}; ${byCpu}`;
    result.measured.push({ id: 'G8', ...directly.throughput, note });
  },

  async growth(scenario, { growth, counterSamples }, result) {
    if (growth.length > 0) result.growth = await usageGrowth(scenario, growth, counterSamples);
  },

  async ingest(scenario, _, result) {
    const { measured, ...figures } = await ingestRatios(scenario);
    result.measured.push(...measured);
    result.ingest = figures;
  },

  async latency(scenario, _, result) {
    const capacity = result.ingest?.capacityPerSecond ?? (await capacityOf(scenario));
    const { measured, ...figures } = await latencyRatio(scenario, capacity);
    result.measured.push(...measured);
    result.latency = figures;
  },

  /** What an event costs by process until it is counted, up to so many; and what they take on disk. */
  async whole(scenario, { storedEvents, costedEvents }, result) {
    await waitForAll(scenario);
    const missing = storedEvents - (await storedInAll(scenario));
    const before = costs(scenario);
    const startedAt = performance.now();
    const events = await take(scenario, Math.max(missing, costedEvents));
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = costs(scenario);
    const stored = await storedInAll(scenario);
    result.whole = {
      events,
      countedPerSecond: Math.round(events / seconds),
      cpuMicrosPerEvent: microsSince(before, after, (micros) => rounded(micros / events)),
      rssPeakMib: rssPeaksMib(after),
      // Of all that was stored: files are allocated in advance, so a few events show nothing.
      diskBytesPerEvent: await bytesPerEvent(scenario.instance.dataDir, stored),
    };
  },

  async freshness(scenario, { rate, freshnessMs }, result) {
    const { measured, ...figures } = await freshness(scenario, { rate, durationMs: freshnessMs });
    result.measured.push(measured);
    result.freshness = figures;
  },

  async counters(scenario, { counterSamples }, result) {
    const { measured, ...figures } = await counters(scenario, counterSamples);
    result.measured.push(measured);
    result.counters = figures;
  },

  async distributed(_, { distributedRounds }, result) {
    if (distributedRounds === 0) return;
    result.measured = result.measured.filter(({ id }) => id !== LEFT_OUT.id);
    result.measured.push(await distributedRatio(distributedRounds));
  },

  /** At four fifths of what was counted per second with no other load. */
  async soak(scenario, { soakMs }, result, interrupted) {
    if (soakMs === 0) return;
    const rate = Math.round((result.whole?.countedPerSecond ?? SOAK_RATE) * 0.8);
    result.soak = await soak(scenario, { rate, durationMs: soakMs, interrupted });
    if (result.soak.problems.length > 0) throw new Error(result.soak.problems[0]);
  },
};

async function capacityOf(scenario: Scenario): Promise<number> {
  const driven = toward(scenario, { batch: 500, connections: 8, durationMs: scenario.runMs * 3 });
  const { events, seconds } = await drive(driven);
  return events / seconds;
}

function costs({ instance }: Scenario) {
  const { dataPlane, controlSide, postgres } = instanceCosts(instance);
  const generator = processCost(process.pid);
  return { 'data plane': dataPlane, 'control side': controlSide, postgres, generator };
}

/** By room of the data folder; the log's segments are preallocated and recycled. */
async function bytesPerEvent(folder: string, events: number): Promise<Record<string, number>> {
  const { log, keys, warehouse } = dataDirAt(folder);
  return {
    log: rounded((await bytesBelow(log)) / events),
    keys: rounded((await bytesBelow(keys)) / events),
    warehouse: rounded((await bytesBelow(warehouse)) / events),
  };
}

const interrupted = interruption('what was measured is kept; once more ends it at once');
try {
  await main(interrupted);
} catch (error) {
  const isTheirs = error instanceof Unusable;
  process.stderr.write(`bench: ${isTheirs ? error.message : (error as Error).stack}\n`);
  if (interrupted.aborted) process.exit(INTERRUPTED_CODE);
  process.exit(isTheirs ? 2 : 1);
}
