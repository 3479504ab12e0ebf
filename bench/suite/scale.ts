import type { Instance, Role } from '../../tests/support/instance.ts';
import { processCost } from '../../tests/support/process-cost.ts';
import { type Judgement, judgeRun } from '../load-tester/judge-run.ts';
import { latencies } from '../load-tester/latencies.ts';
import { createHistogram, type OpenLoopResult, runOpenLoop } from '../load-tester/open-loop.ts';
import { createResponseLedger, type LedgerCounts } from '../load-tester/response-ledger.ts';
import { lookAtInstance } from '../load-tester/tested-instance.ts';
import { drive, makeSenders } from './drive.ts';
import { type EdgeFigures, edgeCounter } from './edge-counter.ts';
import type { Measured } from './goals.ts';
import { rounded } from './paired.ts';
import { type Scenario, toward, waitForAll } from './scenario.ts';
import { take } from './take.ts';
import { storedInAll, timedReads } from './usage-ratios.ts';

export interface GrowthPoint {
  events: number;
  /** Of the data plane, per event of batches, with as many keys known as events are stored. */
  ingestCpuMicros: number;
  counterMs: Record<string, number>;
  breakdownMs: Record<string, number>;
}

const BATCH = 500;
const CONNECTIONS = 8;
/** A counter is made of hours: all of one hour would be summed as fast, however many they are. */
const SPREAD_MS = 20 * 86_400_000;
const GROWTH_GOAL = { from: 1_000_000, to: 50_000_000 };
const EDGE_GOAL_EVENTS = 10_000_000;
/** Of a breakdown's. */
const EDGE_SAMPLES = 4;
/** Sizes are hit give or take a few batches. */
const NEARLY = 0.9;
/** Ticks of CPU are 10 ms: some hundreds of them. */
const COSTED_MS = 3_000;

/** What taking an event costs, and how long a counter and a breakdown take, as what is stored grows. */
export async function usageGrowth(
  scenario: Scenario,
  sizes: readonly number[],
  samples: number,
): Promise<{ points: GrowthPoint[]; edge: EdgeFigures }> {
  const points: GrowthPoint[] = [];
  const edgeSize = nearest(sizes, EDGE_GOAL_EVENTS);
  let edge: EdgeFigures | undefined;
  for (const size of sizes) {
    await take(scenario, size - (await storedInAll(scenario)), SPREAD_MS);
    const events = await storedInAll(scenario);
    const reads = await timedReads(scenario, samples);
    if (size === edgeSize) edge = await edgeCounter(scenario, events, samples * EDGE_SAMPLES);
    const ingestCpuMicros = await ingestCost(scenario);
    await waitForAll(scenario);
    points.push({ events, ingestCpuMicros, ...reads });
  }
  if (!edge) throw new Error('no size was given');
  return { points, edge };
}

/** By their ratio. */
export function nearest(sizes: readonly number[], goal: number): number | undefined {
  const apart = (size: number) => Math.abs(Math.log(size / goal));
  return sizes.toSorted((a, b) => apart(a) - apart(b))[0];
}

/** G15: a breakdown of one customer, the largest size against the smallest. */
export function judgedGrowth(points: readonly GrowthPoint[]): Measured {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last || points.length < 2) return { id: 'G15', note: 'of one size there is no growth' };
  const [few = Number.NaN, many = Number.NaN] = [first.breakdownMs.p50, last.breakdownMs.p50];
  const isSmaller = last.events < GROWTH_GOAL.to * NEARLY || first.events > GROWTH_GOAL.from / NEARLY;
  const note = `${many} ms on ${last.events} events / ${few} ms on ${first.events}`;
  return { id: 'G15', value: rounded(many / few), by: 'p50', isSmaller, note };
}

async function ingestCost(scenario: Scenario): Promise<number> {
  const ingest = scenario.instance.pid('data plane');
  const before = processCost(ingest).cpuMicros;
  const shape = { batch: BATCH, connections: CONNECTIONS, durationMs: COSTED_MS };
  const { events } = await drive(toward(scenario, shape));
  return rounded((processCost(ingest).cpuMicros - before) / events);
}

export interface SoakFigures {
  offeredPerSecond: number;
  seconds: number;
  counts: LedgerCounts;
  requestsNotSent: number;
  requestsRepeated: Record<string, number>;
  latencyMs: Record<string, number>;
  counters: Judgement['outcome'];
  /** Every wrong response or counter, and whatever kept the rate from being held. */
  problems: string[];
  /** Resident memory at even distances, by process. */
  rssMib: Record<string, number[]>;
}

const REPLAYS = 0.2;
const RSS_SAMPLES = 60;

export interface Soak {
  /** Events per second. */
  rate: number;
  durationMs: number;
  /** Ends the sending; responses so far are still judged, briefly. */
  interrupted: AbortSignal;
}

/** A rate held for long, a fifth of it replays: every response judged, and every counter at the end. */
export async function soak(
  scenario: Scenario,
  { rate, durationMs, interrupted }: Soak,
): Promise<SoakFigures> {
  const { instance } = scenario;
  const key = instance.keys().live.secret;
  const { api, customers, meterKey } = await lookAtInstance(new URL(instance.origin), key);
  const own = { ...scenario, customers, meterKey };
  const shape = { batch: BATCH, connections: CONNECTIONS * 2, durationMs, replays: REPLAYS };
  const senders = makeSenders(toward(own, shape), 11);
  const ledger = createResponseLedger(customers.length);
  const histogram = createHistogram();
  const watch = watchMemory(scenario, durationMs / RSS_SAMPLES);
  const startedAtMs = Date.now();
  try {
    const ran = await runOpenLoop({
      senders,
      ledger,
      histogram,
      durationMs,
      interrupted,
      intervalMs: (BATCH * 1_000) / rate,
    });
    const judgement = await judgeRun({ api, customers, meterKey, ledger, startedAtMs, interrupted });
    return {
      offeredPerSecond: rate,
      seconds: Math.round(ran.durationMs / 1_000),
      counts: ledger.counts(),
      requestsNotSent: ran.notSent,
      requestsRepeated: ran.repeated,
      latencyMs: latencies(histogram),
      counters: judgement.outcome,
      // An interruption cuts off requests in flight: the server was not overloaded.
      problems: [...ledger.faults(), ...judgement.problems, ...(interrupted.aborted ? [] : shortfalls(ran))],
      rssMib: watch.stop(),
    };
  } finally {
    watch.stop();
    for (const { connection } of senders) connection.close();
    await api.close();
  }
}

/** A rate was held when each request was sent in time and acknowledged at the first try. */
export function shortfalls({ notSent, repeated, givenUp }: Omit<OpenLoopResult, 'durationMs'>): string[] {
  const found = Object.entries(repeated).map(([why, times]) => `${times} requests were repeated: ${why}`);
  if (notSent > 0) found.push(`${notSent} requests could not be sent while the run lasted`);
  if (givenUp > 0) found.push(`${givenUp} requests received no response`);
  return found;
}

function watchMemory({ instance }: Scenario, everyMs: number) {
  const roles = ['data plane', 'control side'] as const;
  const rssMib: Record<string, number[]> = {};
  const timer = setInterval(() => {
    for (const role of roles) {
      const rssBytes = rssOf(instance, role);
      if (rssBytes !== undefined) rssMib[role] = [...(rssMib[role] ?? []), Math.round(rssBytes / 2 ** 20)];
    }
  }, everyMs);
  return {
    stop: () => {
      clearInterval(timer);
      return rssMib;
    },
  };
}

/** Undefined when it ended: an interruption may end all at once, and what a timer throws ends us too. */
function rssOf(instance: Instance, role: Role): number | undefined {
  try {
    return processCost(instance.pid(role)).rssBytes;
  } catch {
    return undefined;
  }
}
