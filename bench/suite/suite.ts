/**
 * `npm run bench`: every goal of the table on the code as it is, as ratios of things run in turn in one
 * session. Prints the table, stores it with all figures, and renews bench/README.md and the page beside the
 * result. Asserts nothing. `-- --quick` is the short form (two minutes), `-- --scale` the long one, with
 * `--millions 1,10,50` of events stored and `--minutes 10` at a fixed rate; `-- --skip PART` leaves parts out
 * (they then stand as not measured). Exit code 1: a part could not be measured.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { dataDirAt } from '../../infra/data-dir.ts';
import { runBaseline } from '../baselines/start-baseline.ts';
import { familyCost, processCost } from '../process-cost.ts';
import { keepResult } from '../result-file.ts';
import { compareChecks } from './check-ratio.ts';
import { distributedRatio } from './distributed-ratio.ts';
import { drive } from './drive.ts';
import { GOALS, type Measured } from './goals.ts';
import { ingestRatios } from './ingest-ratios.ts';
import { latencyRatio } from './latency-ratio.ts';
import { rounded } from './paired.ts';
import { reportPage } from './report-page.ts';
import { soak, usageGrowth } from './scale.ts';
import { bytesBelow, closeScene, openScene, type Scene, toward, waitForAll } from './scene.ts';
import type { SuiteResult } from './suite-result.ts';
import { goalTable, renewReadme } from './table.ts';
import { counters, freshness, storedCounts } from './usage-ratios.ts';

interface Sizes {
  runMs: number;
  rounds: number;
  /** Events per second while the age of the count is looked at. */
  rate: number;
  freshnessMs: number;
  drainMs: number;
  counterSamples: number;
  checkMs: number;
  keyMillions: string;
  stageBatches: number;
  /** Events stored when reads are timed. */
  growth: number[];
  soakMs: number;
  /** Of one ingest process and two on a broker; none where that is left out. */
  distributedRounds: number;
}

const QUICK: Sizes = {
  ...{ runMs: 400, rounds: 11, rate: 30_000, freshnessMs: 8_000, drainMs: 700, counterSamples: 12 },
  ...{ checkMs: 300, keyMillions: '4', stageBatches: 3_000, growth: [], soakMs: 0, distributedRounds: 0 },
};
const WHOLE: Sizes = {
  ...{ runMs: 1_500, rounds: 9, rate: 60_000, freshnessMs: 60_000, drainMs: 10_000, counterSamples: 30 },
  ...{
    checkMs: 1_500,
    keyMillions: '4,10',
    stageBatches: 20_000,
    growth: [1_000_000],
    soakMs: 0,
    distributedRounds: 7,
  },
};
const OPTIONS = {
  quick: { type: 'boolean', default: false },
  scale: { type: 'boolean', default: false },
  millions: { type: 'string', default: '1,10,50' },
  minutes: { type: 'string', default: '10' },
  skip: { type: 'string', multiple: true },
} as const;
const CHILD_PATIENCE_MS = 240_000;
/** Where the capacity was not measured. */
const SOAK_RATE = 60_000;
const LEFT_OUT: Measured = { id: 'G10', note: 'left out of this form: npm run bench:distributed' };

type Part = (scene: Scene, sizes: Sizes, result: SuiteResult) => Promise<void>;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const form = values.scale ? 'scale' : values.quick ? 'quick' : 'whole';
  const sizes = form === 'scale' ? scaled(values) : form === 'quick' ? QUICK : WHOLE;
  const result: SuiteResult = { form, seed: 1, sizes, measured: [LEFT_OUT], seconds: {}, failed: {} };
  const scene = await openScene(sizes);
  try {
    for (const [name, part] of Object.entries(PARTS)) {
      if (values.skip?.includes(name)) continue;
      const startedAt = performance.now();
      process.stderr.write(`${name} …\n`);
      await part(scene, sizes, result).catch((error: Error) => {
        result.failed[name] = error.message;
        process.stderr.write(`${error.stack}\n`);
      });
      result.seconds[name] = Math.round((performance.now() - startedAt) / 1_000);
    }
  } finally {
    await closeScene(scene);
  }
  tell(result);
}

function scaled({ millions, minutes }: { millions: string; minutes: string }): Sizes {
  const growth = millions.split(',').map((text) => Number(text) * 1_000_000);
  const soakMs = Number(minutes) * 60_000;
  if (![...growth, soakMs].every((size) => size > 0)) throw new Error('--millions and --minutes are numbers');
  return { ...WHOLE, keyMillions: '10,50', growth, soakMs };
}

function tell(result: SuiteResult): void {
  result.measured.sort((a, b) => place(a) - place(b));
  const path = keepResult('suite', result);
  const page = path.replace(/json$/, 'html');
  writeFileSync(page, reportPage(path));
  process.stdout.write(`${goalTable(result)}\n\n${path}\n${page}\n`);
  renewReadme(path);
  if (Object.keys(result.failed).length > 0) process.exitCode = 1;
}

function place({ id }: Measured): number {
  return GOALS.findIndex((goal) => goal.id === id);
}

/** In this order: what the first ones store is what the later ones ask for. */
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
  async checks({ instance }, { checkMs, rounds }, result) {
    const checks = await compareChecks(instance, { rounds, durationMs: checkMs });
    result.checks = checks;
    const { directly, throughTheDoor } = checks;
    const byCpu = `by CPU ${directly.cpu.value} and ${throughTheDoor.cpu.value}`;
    const note = `directly; through the door ${throughTheDoor.throughput.value}; ${byCpu}`;
    result.measured.push({ id: 'G8', ...directly.throughput, note });
  },

  async growth(scene, { growth, counterSamples }, result) {
    if (growth.length > 0) result.growth = await usageGrowth(scene, growth, counterSamples);
  },

  async ingest(scene, _, result) {
    const { measured, ...figures } = await ingestRatios(scene);
    result.measured.push(...measured);
    result.ingest = figures;
  },

  async latency(scene, _, result) {
    const capacity = result.ingest?.capacityPerSecond ?? (await capacityOf(scene));
    const { measured, ...figures } = await latencyRatio(scene, capacity);
    result.measured.push(...measured);
    result.latency = figures;
  },

  /** What was taken so far and more is counted; its cost, by process, and what all of it takes on disk. */
  async whole(scene, { drainMs }, result) {
    await waitForAll(scene);
    const before = costs(scene);
    const startedAt = performance.now();
    const { events } = await drive(toward(scene, { batch: 500, connections: 8, durationMs: drainMs }));
    await waitForAll(scene);
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = costs(scene);
    const stored = (await storedCounts(scene)).reduce((sum, count) => sum + count, 0);
    const bytes = Object.entries(await storedBytes(scene.instance.dataDir));
    const spent = Object.entries(after.cpuMicros).map(([name, micros]) => {
      return [name, rounded((micros - (before.cpuMicros[name] ?? 0)) / events)];
    });
    result.whole = {
      events,
      countedPerSecond: Math.round(events / seconds),
      cpuMicrosPerEvent: Object.fromEntries(spent),
      rssPeakMib: after.rssPeakMib,
      // Of all that was stored: files are made in advance, so that a few events tell nothing.
      diskBytesPerEvent: Object.fromEntries(bytes.map(([name, size]) => [name, rounded(size / stored)])),
    };
  },

  async freshness(scene, { rate, freshnessMs }, result) {
    const { measured, ...figures } = await freshness(scene, { rate, durationMs: freshnessMs });
    result.measured.push(measured);
    result.freshness = figures;
  },

  async counters(scene, { counterSamples }, result) {
    const { measured, ...figures } = await counters(scene, counterSamples);
    result.measured.push(measured);
    result.counters = figures;
  },

  async distributed(_, { distributedRounds }, result) {
    if (distributedRounds === 0) return;
    result.measured = result.measured.filter(({ id }) => id !== LEFT_OUT.id);
    result.measured.push(await distributedRatio(distributedRounds));
  },

  /** At four fifths of what was counted a second while nothing else was asked of it. */
  async soak(scene, { soakMs }, result) {
    if (soakMs === 0) return;
    const capacity = result.whole?.countedPerSecond ?? SOAK_RATE;
    result.soak = await soak(scene, Math.round(capacity * 0.8), soakMs);
    if (result.soak.problems.length > 0) throw new Error(result.soak.problems[0]);
  },
};

async function capacityOf(scene: Scene): Promise<number> {
  const driven = toward(scene, { batch: 500, connections: 8, durationMs: scene.runMs * 3 });
  const { events, seconds } = await drive(driven);
  return events / seconds;
}

function costs({ instance }: Scene) {
  const now = {
    'data plane': processCost(instance.pid('data plane')),
    'control side': processCost(instance.pid('control side')),
    postgres: familyCost(instance.pid('postgres')),
    generator: processCost(process.pid),
  };
  const each = (figure: (cost: { cpuMicros: number; rssPeakBytes: number }) => number) =>
    Object.fromEntries(Object.entries(now).map(([name, cost]) => [name, figure(cost)]));
  return {
    cpuMicros: each(({ cpuMicros }) => cpuMicros),
    rssPeakMib: each(({ rssPeakBytes }) => Math.round(rssPeakBytes / 2 ** 20)),
  };
}

/** By room of the data folder; the log's segments are preallocated and recycled. */
async function storedBytes(folder: string): Promise<Record<string, number>> {
  const paths = dataDirAt(folder);
  return {
    log: await bytesBelow(paths.log),
    keys: await bytesBelow(paths.keys),
    warehouse: await bytesBelow(paths.warehouse),
  };
}

await main();
