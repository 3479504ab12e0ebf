import { monitorEventLoopDelay } from 'node:perf_hooks';
import { build as buildHistogram } from 'hdr-histogram-js';
import { runBaseline } from '../baselines/start-baseline.ts';
import { createAnswerLedger } from '../load-tester/answer-ledger.ts';
import { latencies } from '../load-tester/latencies.ts';
import { runOpenLoop, TRACKED_MICROS_MAX } from '../load-tester/open-loop.ts';
import { makeLanes } from './drive.ts';
import type { Measured } from './goals.ts';
import { median, paired, rounded } from './paired.ts';
import { type Scene, toward } from './scene.ts';

export interface LatencyFigures {
  measured: Measured[];
  /** Milliseconds by percentile at half of capacity, of the middling round. */
  answerMs: Record<string, number>;
  bareFlushMs: Record<string, number>;
  offeredPerSecond: number;
}

const BATCH = 500;
const CONNECTIONS = 16;
const BASELINE_PATIENCE_MS = 60_000;
/** Below some hundreds of requests there is no p99. */
const ANSWERS_MS = 1_000;

/** G3: an open loop at half of what was answered at most, beside a bare flush of those bytes at that pace. */
export async function latencyRatio(scene: Scene, capacityPerSecond: number): Promise<LatencyFigures> {
  const offeredPerSecond = Math.round(capacityPerSecond / 2);
  const intervalMs = (BATCH * 1_000) / offeredPerSecond;
  const controlSide = scene.instance.pid('control side');
  const rounds: Array<{ before: Times; ours: Times; after: Times }> = [];
  process.kill(controlSide, 'SIGSTOP');
  try {
    const bytes = bytesOf(scene);
    const flush = () => bareFlush(scene, bytes, intervalMs);
    await answers(scene, intervalMs);
    for (let round = 0; round < scene.rounds; round++) {
      const before = await flush();
      rounds.push({ before, ours: await answers(scene, intervalMs), after: await flush() });
    }
  } finally {
    process.kill(controlSide, 'SIGCONT');
  }
  const ratio = paired(
    rounds.map(({ before, ours, after }) => ({ before: p99(before), ours: p99(ours), after: p99(after) })),
  );
  const middling = rounds.map(({ ours }) => ours).sort((a, b) => p99(a) - p99(b));
  const late = median(rounds.map(({ ours }) => ours.generatorLate ?? 0));
  const note = `p99 by which the generator itself was late: ${rounded(late)} ms`;
  return {
    measured: [{ id: 'G3', ...ratio, note }],
    answerMs: middling[Math.floor(middling.length / 2)] ?? {},
    bareFlushMs: {
      p50: median(rounds.map(({ before }) => before.p50 ?? 0)),
      p99: median(rounds.map(({ before }) => p99(before))),
    },
    offeredPerSecond,
  };
}

type Times = Record<string, number>;

function p99(times: Times): number {
  return times.p99 ?? Number.NaN;
}

/** Of one request: what its frame takes on the log is about as much. */
function bytesOf(scene: Scene): number {
  const [lane] = makeLanes(toward(scene, { batch: BATCH, connections: 1, durationMs: 0 }), 1);
  return lane?.bodies[0]?.next().request.length ?? 0;
}

async function bareFlush({ instance, runMs }: Scene, bytes: number, everyMs: number): Promise<Times> {
  const args = [instance.dataDir, bytes, everyMs, runMs].map(String);
  return (await runBaseline('bare-flush', BASELINE_PATIENCE_MS, ...args)) as Times;
}

async function answers(scene: Scene, intervalMs: number): Promise<Times> {
  const histogram = buildHistogram({
    highestTrackableValue: TRACKED_MICROS_MAX,
    numberOfSignificantValueDigits: 3,
  });
  const ledger = createAnswerLedger(scene.customers.length);
  const lanes = makeLanes(toward(scene, { batch: BATCH, connections: CONNECTIONS, durationMs: 0 }), 7);
  // Its own waits for a core are in every time that it takes.
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await runOpenLoop({
    ...{ lanes, ledger, histogram, intervalMs, durationMs: Math.max(scene.runMs, ANSWERS_MS) },
    interrupted: new AbortController().signal,
    onAnswered: () => undefined,
  });
  delays.disable();
  for (const { connection } of lanes) connection.close();
  const [fault] = ledger.faults();
  if (fault !== undefined) throw new Error(fault);
  return { ...latencies(histogram), generatorLate: delays.percentile(99) / 1e6 - 1 };
}
