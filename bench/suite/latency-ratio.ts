import { monitorEventLoopDelay } from 'node:perf_hooks';
import { percentile } from '../../tests/support/freshness-probe.ts';
import { whilePaused } from '../../tests/support/processes.ts';
import { runBaseline } from '../baselines/start-baseline.ts';
import { latencies } from '../load-tester/latencies.ts';
import { createHistogram, runOpenLoop } from '../load-tester/open-loop.ts';
import { createResponseLedger } from '../load-tester/response-ledger.ts';
import { makeSenders } from './drive.ts';
import type { Measured } from './goals.ts';
import { median, rounded } from './paired.ts';
import { type Scenario, toward } from './scenario.ts';

export interface LatencyFigures {
  measured: Measured[];
  /** Milliseconds by percentile at half of capacity, of all rounds. */
  responseMs: Record<string, number>;
  bareFlushMs: Record<string, number>;
  offeredPerSecond: number;
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

/**
 * G3: an open loop at half of the highest throughput, in turns with a bare flush of those bytes at that
 * pace. A round has too few requests for a p99: it is taken over all of them together, and the control is
 * every other flush run in the same rounds. With few rounds it is the ratio of the medians.
 */
export async function latencyRatio(scenario: Scenario, capacityPerSecond: number): Promise<LatencyFigures> {
  const offeredPerSecond = Math.round(capacityPerSecond / 2);
  const intervalMs = (BATCH * 1_000) / offeredPerSecond;
  const controlSide = scenario.instance.pid('control side');
  const recorded = createRecording();
  const runMs = Math.max(scenario.runMs, ROUND_MS_MIN);
  const run = { scenario, intervalMs, runMs };
  const flushes: number[][] = [];
  await whilePaused(controlSide, async () => {
    const bytes = bytesOf(scenario);
    await recordResponses(run, createRecording());
    flushes.push(await bareFlush(run, bytes));
    for (let round = 0; round < scenario.rounds; round++) {
      await recordResponses(run, recorded);
      flushes.push(await bareFlush(run, bytes));
    }
  });
  const responseMs = latencies(recorded.histogram);
  const flushMs = flushes.flat();
  const late = recorded.delays.percentile(99) / 1e6 - 1;
  const isFew = recorded.histogram.totalCount < P99_RESPONSES_MIN;
  const p99s = `${rounded(responseMs.p99 ?? Number.NaN)} and ${rounded(percentile(flushMs, 99))} ms`;
  const note = [
    `p99 by which the generator itself was late: ${rounded(late)} ms`,
    ...(isFew ? [`the middle times, since these are few for a p99; the p99 ${p99s}`] : []),
  ].join('; ');
  const percent = isFew ? 50 : 99;
  const value = rounded((responseMs[`p${percent}`] ?? Number.NaN) / percentile(flushMs, percent));
  return {
    measured: [
      { id: 'G3', value, by: isFew ? 'p50' : 'p99', isSmaller: isFew, ...controlOf(flushes, percent), note },
    ],
    responseMs,
    bareFlushMs: Object.fromEntries([50, 90, 99].map((at) => [`p${at}`, rounded(percentile(flushMs, at))])),
    offeredPerSecond,
  };
}

/** Every other run relative to the rest, and how far apart neighbours were in the median case. */
function controlOf(flushes: number[][], percent: number): Pick<Measured, 'control' | 'noise'> {
  const every = (odd: number) => percentile(flushes.filter((_, at) => at % 2 === odd).flat(), percent);
  const each = flushes.map((times) => percentile(times, percent));
  const apart = each.slice(1).map((time, at) => Math.abs(time / (each[at] ?? time) - 1));
  return { control: rounded(every(1) / every(0)), noise: rounded(median(apart)) };
}

interface Run {
  scenario: Scenario;
  intervalMs: number;
  runMs: number;
}

/** Of several rounds: each response, and by how much the generator was late. */
function createRecording() {
  // Its own waits for a core are in every time that it takes.
  return { histogram: createHistogram(), delays: monitorEventLoopDelay({ resolution: 1 }) };
}

/** Of one request: what its frame takes on the log is about as much. */
function bytesOf(scenario: Scenario): number {
  const [sender] = makeSenders(toward(scenario, { batch: BATCH, connections: 1, durationMs: 0 }), 1);
  return sender?.bodies[0]?.next().request.length ?? 0;
}

async function bareFlush({ scenario, intervalMs, runMs }: Run, bytes: number): Promise<number[]> {
  const args = [scenario.instance.dataDir, bytes, intervalMs, runMs].map(String);
  const times = (await runBaseline('bare-flush', BASELINE_PATIENCE_MS, ...args)) as number[];
  return times.slice(COLD_FLUSHES);
}

async function recordResponses(
  { scenario, intervalMs, runMs }: Run,
  { histogram, delays }: ReturnType<typeof createRecording>,
): Promise<void> {
  const ledger = createResponseLedger(scenario.customers.length);
  const senders = makeSenders(toward(scenario, { batch: BATCH, connections: CONNECTIONS, durationMs: 0 }), 7);
  const loop = { senders, ledger, intervalMs };
  await runOpenLoop({ ...loop, histogram: createHistogram(), durationMs: WARM_UP_MS });
  delays.enable();
  await runOpenLoop({ ...loop, histogram, durationMs: runMs });
  delays.disable();
  for (const { connection } of senders) connection.close();
  const [fault] = ledger.faults();
  if (fault !== undefined) throw new Error(fault);
}
