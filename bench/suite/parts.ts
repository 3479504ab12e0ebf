import { runBaseline } from '../baselines/start-baseline.ts';
import { unlessAborted } from '../interruption.ts';
import { compareChecks } from './check-ratio.ts';
import { diskBytes } from './disk-bytes.ts';
import { distributedRatio } from './distributed-ratio.ts';
import { judgedEdge } from './edge-counter.ts';
import { fixedRateLatency } from './fixed-rate-latency.ts';
import { FIXED_RATES, type Measured } from './goals.ts';
import { ingestRatios } from './ingest-ratios.ts';
import { manyKeys } from './many-keys.ts';
import { requestToCount } from './request-to-count.ts';
import { judgedGrowth, soak, usageGrowth } from './scale.ts';
import { inOwnScenario, type Scenario, waitForAll } from './scenario.ts';
import type { Sizes } from './suite-arguments.ts';
import type { SuiteResult } from './suite-result.ts';
import { sustainedCount } from './sustained.ts';
import { counters, freshness, storedInAll } from './usage-ratios.ts';
import { writtenBytes } from './written-bytes.ts';

/** What a run of the suite consists of; each adds to the result what it has found. */
export type Part = (
  scenario: Scenario,
  sizes: Sizes,
  result: SuiteResult,
  interrupted: AbortSignal,
) => Promise<void>;

const CHILD_PATIENCE_MS = 240_000;
/** Where none was measured. */
const SOAK_RATE = 60_000;
/** Goals of parts that not every form has. */
export const LEFT_OUT: readonly Measured[] = [
  { id: 'G10', note: 'left out of this form: npm run bench:distributed' },
  ...['G15', 'G16', 'G17', 'G18', 'G19'].map((id) => ({ id, note: 'left out of this form' })),
];

/**
 * A part that handles an interruption itself ends within this: `soak` still reads responses and counters, the
 * others end an installation of their own.
 */
export const GRACE_MS = { soak: 45_000, disk: 45_000, 'many-keys': 45_000, growth: 45_000 };

/** In this order: the later parts need what the first ones store. */
export const PARTS: Record<string, Part> = {
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
    found(result, measured);
    result.keyCurve = curve;
  },

  async 'many-keys'(_, { manyKeys: count }, result, interrupted) {
    if (count === 0) return;
    const { measured, ...figures } = await manyKeys(count, interrupted);
    found(result, ...measured);
    result.manyKeys = figures;
  },

  async disk(_, { diskEvents }, result, interrupted) {
    const { measured, shapes } = await diskBytes(diskEvents, interrupted);
    found(result, ...measured);
    result.disk = shapes;
  },

  /** Ahead of all that leaves the warehouse something to merge: a warm check is one of an idle instance. */
  async checks({ instance }, { checkRounds, runMs }, result) {
    const checks = await compareChecks(instance, { rounds: checkRounds, runMs });
    result.checks = checks;
    const { directly, behindPublicPort } = checks;
    const byCpu = `by CPU ${directly.cpu.value} and ${behindPublicPort.cpu.value}`;
    const note = `directly; behind the public port ${behindPublicPort.throughput.value}; ${byCpu}`;
    found(result, { id: 'G8', ...directly.throughput, note });
  },

  /** In an installation of its own: what other parts take and count costs more with so much stored. */
  async growth(_, sizes, result, interrupted) {
    if (sizes.growth.length === 0) return;
    const { points, edge } = await inOwnScenario(sizes, (scenario) => {
      return unlessAborted(usageGrowth(scenario, sizes.growth, sizes.counterSamples), interrupted);
    });
    found(result, judgedGrowth(points), judgedEdge(edge));
    result.growth = points;
    result.edge = edge;
  },

  async ingest(scenario, _, result) {
    const { measured, ...figures } = await ingestRatios(scenario);
    found(result, ...measured);
    result.ingest = figures;
  },

  async latency(scenario, _, result) {
    result.latency = [];
    for (const rate of FIXED_RATES) {
      const { measured, ...figures } = await fixedRateLatency(scenario, rate);
      found(result, measured);
      result.latency.push(figures);
    }
  },

  async written(scenario, { writtenMs }, result) {
    const { measured, shapes } = await writtenBytes(scenario, writtenMs);
    found(result, ...measured);
    result.written = shapes;
  },

  async whole(scenario, { storedEvents, costedEvents }, result) {
    await waitForAll(scenario);
    const missing = storedEvents - (await storedInAll(scenario));
    const { measured, ...figures } = await requestToCount(scenario, Math.max(missing, costedEvents));
    found(result, measured);
    result.whole = figures;
  },

  async sustained(scenario, { sustainedMs }, result) {
    const { measured, ...figures } = await sustainedCount(scenario, sustainedMs);
    found(result, measured);
    result.sustained = figures;
  },

  async freshness(scenario, { freshnessMs }, result) {
    const { measured, ...figures } = await freshness(scenario, freshnessMs);
    found(result, measured);
    result.freshness = figures;
  },

  async counters(scenario, { counterSamples }, result) {
    const { measured, ...figures } = await counters(scenario, counterSamples);
    found(result, measured);
    result.counters = figures;
  },

  async distributed(_, { distributedRounds }, result) {
    if (distributedRounds > 0) found(result, await distributedRatio(distributedRounds));
  },

  /** At four fifths of what was counted per second with no other load. */
  async soak(scenario, { soakMs }, result, interrupted) {
    if (soakMs === 0) return;
    const { sustained, whole } = result;
    const rate = Math.round((sustained?.countedPerSecond ?? whole?.countedPerSecond ?? SOAK_RATE) * 0.8);
    result.soak = await soak(scenario, { rate, durationMs: soakMs, interrupted });
    if (result.soak.problems.length > 0) throw new Error(result.soak.problems[0]);
  },
};

/** In the place of what was said of these goals before. */
function found(result: SuiteResult, ...measured: Measured[]): void {
  const others = result.measured.filter(({ id }) => !measured.some((one) => one.id === id));
  result.measured = [...others, ...measured];
}
