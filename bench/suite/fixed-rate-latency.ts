import { monitorEventLoopDelay } from 'node:perf_hooks';
import { percentile } from '../../tests/support/freshness-probe.ts';
import { whilePaused } from '../../tests/support/processes.ts';
import { runBaseline } from '../baselines/start-baseline.ts';
import { latencies } from '../load-tester/latencies.ts';
import { createHistogram, runOpenLoop } from '../load-tester/open-loop.ts';
import { createResponseLedger } from '../load-tester/response-ledger.ts';
import { makeSenders } from './drive.ts';
import { latencyGoal, type Measured } from './goals.ts';
import { median, rounded } from './paired.ts';
import { growthOf, readMetrics } from './read-metrics.ts';
import { type Scenario, toward, waitForAll } from './scenario.ts';

export interface LatencyFigures {
  offeredPerSecond: number;
  /** From the first request that fell due to the last response, of all rounds. */
  respondedPerSecond: number;
  /** Of our log, and of the bare flush after it. */
  frames: Frames;
  /** Milliseconds by percentile, of all rounds. */
  responseMs: Record<string, number>;
  bareFlushMs: Record<string, number>;
  /** By how much the generator itself was late, p99. */
  generatorLateMs: number;
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
/** Until every connection of a round is open and has served a few requests. */
const WARM_UP_MS = 150;
/** Until the size of a frame at this rate is known. */
const FRAMES_MS = 1_000;
/** Of what was offered: responses to the last requests come a little after the end. */
const REACHED = 0.97;

/**
 * G3 at one rate: an open loop, in turns with a bare flush of as many frames a second, of their size. A round
 * has too few requests for a p99: it is taken over all of them together, and the control is every other
 * flush run against the rest.
 */
export async function fixedRateLatency(
  scenario: Scenario,
  rate: number,
): Promise<LatencyFigures & { measured: Measured }> {
  const recorded = createRecording();
  const run = { scenario, rate, runMs: roundMs(scenario, rate) };
  const frames = await framesAt(run);
  const flushes: number[][] = [];
  await whilePaused(scenario.instance.pid('control side'), async () => {
    flushes.push(await bareFlush(run, frames));
    for (let round = 0; round < scenario.rounds; round++) {
      await recordResponses(run, recorded);
      flushes.push(await bareFlush(run, frames));
    }
  });
  await waitForAll(scenario);
  const flushMs = flushes.flat();
  const figures: LatencyFigures = {
    offeredPerSecond: rate,
    respondedPerSecond: Math.round((recorded.requests * BATCH * 1_000) / recorded.durationMs),
    frames,
    responseMs: latencies(recorded.histogram),
    bareFlushMs: Object.fromEntries([50, 90, 99].map((at) => [`p${at}`, rounded(percentile(flushMs, at))])),
    generatorLateMs: rounded(recorded.delays.percentile(99) / 1e6 - 1),
  };
  return { ...figures, measured: { ...judged(figures, recorded.notSent), ...controlOf(flushes) } };
}

/** Long enough that all rounds together have enough responses for a p99. */
function roundMs({ runMs, rounds }: Pick<Scenario, 'runMs' | 'rounds'>, rate: number): number {
  const enough = Math.ceil((P99_RESPONSES_MIN * BATCH * 1_000) / rate / rounds);
  return Math.max(runMs, ROUND_MS_MIN, enough);
}

/** A rate at which requests were left over, or whose responses took longer than the run, was not reached. */
export function judged(figures: LatencyFigures, notSent: number): Measured {
  const { offeredPerSecond, respondedPerSecond, frames, responseMs, bareFlushMs, generatorLateMs } = figures;
  const id = latencyGoal(offeredPerSecond);
  const ownP99 = responseMs.p99 ?? Number.NaN;
  const flushP99 = bareFlushMs.p99 ?? Number.NaN;
  const note = [
    `p99 ${rounded(ownP99)} and ${flushP99} ms`,
    `the generator itself was late by ${generatorLateMs} ms at p99`,
    `${frames.perSecond} frames/s of ${frames.bytes} B`,
  ];
  if (notSent > 0 || respondedPerSecond < offeredPerSecond * REACHED) {
    const rates = `${respondedPerSecond} of ${offeredPerSecond} events/s had a response in time`;
    return { id, isNotReached: true, note: [rates, ...note].join('; ') };
  }
  return { id, value: rounded(ownP99 / flushP99), by: 'p99', note: note.join('; ') };
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
  rate: number;
  runMs: number;
}

/** Of several rounds: each response, and by how much the generator was late. */
function createRecording() {
  return {
    histogram: createHistogram(),
    // Its own waits for a core are in every time that it takes.
    delays: monitorEventLoopDelay({ resolution: 1 }),
    requests: 0,
    notSent: 0,
    durationMs: 0,
  };
}

/** What the log writes at this rate. */
async function framesAt(run: Run): Promise<Frames> {
  const { instance } = run.scenario;
  const before = await readMetrics(instance.origin);
  const recording = createRecording();
  await whilePaused(instance.pid('control side'), () =>
    recordResponses({ ...run, runMs: FRAMES_MS }, recording),
  );
  const after = await readMetrics(instance.origin);
  const count = growthOf('metergate_log_append_seconds_count', before, after);
  const bytes = growthOf('metergate_log_end_position', before, after);
  const perSecond = (count * 1_000) / (WARM_UP_MS + recording.durationMs);
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

async function recordResponses(
  { scenario, rate, runMs }: Run,
  recording: ReturnType<typeof createRecording>,
): Promise<void> {
  const { histogram, delays } = recording;
  const ledger = createResponseLedger(scenario.customers.length);
  const senders = makeSenders(toward(scenario, { batch: BATCH, connections: CONNECTIONS, durationMs: 0 }), 7);
  const loop = { senders, ledger, intervalMs: (BATCH * 1_000) / rate };
  await runOpenLoop({ ...loop, histogram: createHistogram(), durationMs: WARM_UP_MS });
  delays.enable();
  const ran = await runOpenLoop({ ...loop, histogram, durationMs: runMs });
  delays.disable();
  for (const { connection } of senders) connection.close();
  const [fault] = ledger.faults();
  if (fault !== undefined) throw new Error(fault);
  recording.requests += ran.requests;
  recording.notSent += ran.notSent;
  recording.durationMs += ran.durationMs;
}
