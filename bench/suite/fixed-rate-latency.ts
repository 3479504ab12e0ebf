import { percentile } from '../../tests/support/freshness-probe.ts';
import { whilePaused } from '../../tests/support/processes.ts';
import { runBaseline } from '../baselines/start-baseline.ts';
import { latencies } from '../load-tester/latencies.ts';
import { latencyGoal, type Measured } from './goals.ts';
import { median, rounded } from './paired.ts';
import { growthOf, readMetrics } from './read-metrics.ts';
import {
  createRateRecorder,
  type GeneratorFigures,
  type RateRecorder,
  type RecordedResponses,
  WARM_UP_MS,
} from './recorded-responses.ts';
import { type Scenario, waitForAll } from './scenario.ts';

export interface LatencyFigures {
  offeredPerSecond: number;
  /** From the first request that fell due to the last response, of all rounds. */
  respondedPerSecond: number;
  /** Of our log, and of the bare flush after it. */
  frames: Frames;
  /** Milliseconds by percentile, of all rounds. */
  responseMs: Record<string, number>;
  bareFlushMs: Record<string, number>;
  generator: GeneratorFigures;
}

export interface Frames {
  perSecond: number;
  bytes: number;
}

const BATCH = 500;
const CONNECTIONS = 16;
const BASELINE_PATIENCE_MS = 60_000;
/** Of a process and a file that are new. */
const COLD_FLUSHES = 10;
/** Requests in flight when a round begins and ends are a smaller part of a longer one. */
const ROUND_MS_MIN = 500;
/** Of fewer a p99 is a handful, and says nothing the next time. */
const P99_RESPONSES_MIN = 2_000;
/** Until the size of a frame at this rate is known. */
const FRAMES_MS = 1_000;
/** Of what was offered: responses to the last requests come a little after the end. */
const REACHED = 0.97;
/** Below this share of the p99 the generator's own stalls are what makes it. */
const P99_WITHOUT_STALLS_MIN = 0.9;

/**
 * G3 at one rate: an open loop, in turns with a bare flush of as many frames a second, of their size. A round
 * has too few requests for a p99: it is taken over all of them together, and the control is every other
 * flush run against the rest.
 */
export async function fixedRateLatency(
  scenario: Scenario,
  rate: number,
): Promise<LatencyFigures & { measured: Measured }> {
  const open = () => createRateRecorder(scenario, { batch: BATCH, connections: CONNECTIONS, rate });
  const run = { scenario, runMs: roundMs(scenario, rate) };
  const frames = await framesAt(scenario, open());
  const recorder = open();
  try {
    const flushes = await inTurns(run, frames, recorder);
    await waitForAll(scenario);
    return judgedRun({ rate, frames, flushes, recorded: recorder.recorded() });
  } finally {
    recorder.close();
  }
}

/** Flush, ours, flush, ours … flush: the times of each run of flushes. */
function inTurns(run: Run, frames: Frames, recorder: RateRecorder): Promise<number[][]> {
  const { instance, rounds } = run.scenario;
  return whilePaused(instance.pid('control side'), async () => {
    const flushes = [await bareFlush(run, frames)];
    for (let round = 0; round < rounds; round++) {
      await recorder.record(run.runMs);
      flushes.push(await bareFlush(run, frames));
    }
    return flushes;
  });
}

interface FinishedRun {
  rate: number;
  frames: Frames;
  flushes: number[][];
  recorded: RecordedResponses;
}

function judgedRun({ rate, frames, flushes, recorded }: FinishedRun) {
  const flushMs = flushes.flat();
  const figures: LatencyFigures = {
    offeredPerSecond: rate,
    respondedPerSecond: Math.round((recorded.requests * BATCH * 1_000) / recorded.durationMs),
    frames,
    responseMs: latencies(recorded.histogram),
    bareFlushMs: Object.fromEntries([50, 90, 99].map((at) => [`p${at}`, rounded(percentile(flushMs, at))])),
    generator: recorded.generator,
  };
  return { ...figures, measured: { ...judged(figures, recorded.notSent), ...controlOf(flushes) } };
}

/** Long enough that all rounds together have enough responses for a p99. */
function roundMs({ runMs, rounds }: Pick<Scenario, 'runMs' | 'rounds'>, rate: number): number {
  const enough = Math.ceil((P99_RESPONSES_MIN * BATCH * 1_000) / rate / rounds);
  return Math.max(runMs, ROUND_MS_MIN, enough);
}

/**
 * A rate at which requests were left over, or whose responses took longer than the run, was not reached. What
 * the generator's own stalls decided says nothing about the server.
 */
export function judged(figures: LatencyFigures, notSent: number): Measured {
  const { offeredPerSecond, respondedPerSecond, frames, responseMs, bareFlushMs, generator } = figures;
  const id = latencyGoal(offeredPerSecond);
  const ownP99 = responseMs.p99 ?? Number.NaN;
  const flushP99 = bareFlushMs.p99 ?? Number.NaN;
  const note = [
    `p99 ${rounded(ownP99)} and ${flushP99} ms`,
    stallsText(generator),
    `${frames.perSecond} frames/s of ${frames.bytes} B`,
  ];
  if (notSent > 0 || respondedPerSecond < offeredPerSecond * REACHED) {
    const rates = `${respondedPerSecond} of ${offeredPerSecond} events/s had a response in time`;
    return { id, isNotReached: true, note: [rates, ...note].join('; ') };
  }
  const value = { id, value: rounded(ownP99 / flushP99), by: 'p99' } as const;
  if (generator.p99WithoutStallsMs >= ownP99 * P99_WITHOUT_STALLS_MIN)
    return { ...value, note: note.join('; ') };
  return { ...value, isVoid: true, note: ['decided by stalls of the generator', ...note].join('; ') };
}

function stallsText(generator: GeneratorFigures): string {
  const { p99WithoutStallsMs, stalledShare, longestStallMs, majorCollections } = generator;
  const percent = rounded(stalledShare * 100);
  const stalls = `stalls of the generator, ${percent} % of the time, ${longestStallMs} ms at most`;
  return `${p99WithoutStallsMs} ms without ${stalls}, ${majorCollections} collections of all its heap`;
}

/** Every other run relative to the rest, and how far apart neighbours were in the median case. */
function controlOf(flushes: number[][]): Pick<Measured, 'control' | 'noise'> {
  const every = (odd: number) => percentile(flushes.filter((_, at) => at % 2 === odd).flat(), 99);
  const each = flushes.map((times) => percentile(times, 99));
  const apart = each.slice(1).map((time, at) => Math.abs(time / (each[at] ?? time) - 1));
  return { control: rounded(every(1) / every(0)), noise: rounded(median(apart)) };
}

interface Run {
  scenario: Scenario;
  runMs: number;
}

/** What the log writes at this rate; closes the recorder. */
async function framesAt({ instance }: Scenario, recorder: RateRecorder): Promise<Frames> {
  const before = await readMetrics(instance.origin);
  await whilePaused(instance.pid('control side'), () => recorder.record(FRAMES_MS));
  recorder.close();
  const after = await readMetrics(instance.origin);
  const count = growthOf('metergate_log_append_seconds_count', before, after);
  const bytes = growthOf('metergate_log_end_position', before, after);
  const perSecond = (count * 1_000) / (WARM_UP_MS + recorder.recorded().durationMs);
  return { perSecond: Math.round(perSecond), bytes: Math.round(bytes / count) };
}

async function bareFlush({ scenario, runMs }: Run, { perSecond, bytes }: Frames): Promise<number[]> {
  const everyMs = 1_000 / perSecond;
  const args = [scenario.instance.dataDir, bytes, everyMs, runMs].map(String);
  const times = (await runBaseline('bare-flush', BASELINE_PATIENCE_MS, ...args)) as number[];
  return fromWhenDue(times.slice(COLD_FLUSHES), everyMs);
}

/**
 * From when each was due to its end: one waits for those before it, as a response does. What its timer was
 * late by is left out, since that is not the disk's.
 */
export function fromWhenDue(timesMs: readonly number[], everyMs: number): number[] {
  let endMs = 0;
  return timesMs.map((timeMs, at) => {
    const dueMs = at * everyMs;
    endMs = Math.max(dueMs, endMs) + timeMs;
    return endMs - dueMs;
  });
}
