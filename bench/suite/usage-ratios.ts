import { callDone } from '../../tests/support/api.ts';
import { startFreshnessProbe } from '../../tests/support/freshness-probe.ts';
import { withClient } from '../../tests/support/with-client.ts';
import { insertRawRows, sumRawRows } from '../baselines/raw-rows.ts';
import { countedEvents } from '../counted-events.ts';
import { createHistogram, runOpenLoop } from '../load-tester/open-loop.ts';
import { createResponseLedger } from '../load-tester/response-ledger.ts';
import { spreadOf, timed } from '../samples.ts';
import { makeSenders } from './drive.ts';
import { FRESHNESS_RATE, type Measured } from './goals.ts';
import { median, rounded } from './paired.ts';
import { type Scenario, toward, waitForAll } from './scenario.ts';

export interface FreshnessFigures {
  measured: Measured;
  offeredPerSecond: number;
  respondedPerSecond: number;
  seconds: number;
  fromResponseToCountedMs: Record<'p50' | 'p99' | 'max' | 'samples', number>;
}

const BATCH = 500;
/** Of what was offered: responses to the last requests come a little after the end. */
const REACHED = 0.97;

/** G6: how old the count is while usage comes at a fixed rate. */
export async function freshness(scenario: Scenario, durationMs: number): Promise<FreshnessFigures> {
  const probe = startFreshnessProbe(scenario.api, scenario.customers[0] ?? '', `probe_${Date.now()}`);
  const senders = makeSenders(toward(scenario, { batch: BATCH, connections: 8, durationMs: 0 }), 3);
  const ledger = createResponseLedger(scenario.customers.length);
  const ran = await runOpenLoop({
    senders,
    ledger,
    durationMs,
    intervalMs: (BATCH * 1_000) / FRESHNESS_RATE,
    histogram: createHistogram(),
  });
  for (const { connection } of senders) connection.close();
  const times = await probe.stop();
  await waitForAll(scenario);
  const [fault] = ledger.faults();
  if (fault !== undefined) throw new Error(fault);
  if (ran.givenUp > 0) throw new Error(`${ran.givenUp} requests received no response: ${ran.lastFailure}`);
  const respondedPerSecond = Math.round((ledger.counts().created * 1_000) / ran.durationMs);
  const figures = {
    offeredPerSecond: FRESHNESS_RATE,
    respondedPerSecond,
    seconds: Math.round(durationMs / 1_000),
    fromResponseToCountedMs: { ...spreadOf(times, Math.round), samples: times.length },
  };
  return { ...figures, measured: judgedFreshness(figures) };
}

/** The age of the count at a lower rate says nothing about this one. */
export function judgedFreshness(figures: Omit<FreshnessFigures, 'measured'>): Measured {
  const { offeredPerSecond, respondedPerSecond, seconds, fromResponseToCountedMs } = figures;
  const { p99, samples } = fromResponseToCountedMs;
  const rates = `${respondedPerSecond} of ${offeredPerSecond} events/s were acknowledged for ${seconds} s`;
  return {
    id: 'G6/120k',
    value: rounded(p99 / 1_000),
    ...(respondedPerSecond < offeredPerSecond * REACHED ? { isNotReached: true } : {}),
    note: `${rates}, ${samples} probes; read every 250 ms, so up to that much too long`,
  };
}

export interface CounterFigures {
  measured: Measured;
  /** Events stored in all, and of the requested customer. */
  events: number;
  ofTheCustomer: number;
  counterMs: Record<string, number>;
  breakdownMs: Record<string, number>;
  rawRowsMs: Record<string, number>;
}

/** Of either of the others. */
const BREAKDOWN_EVERY = 8;
/** A sum over millions of rows takes seconds: so long for as many of them as come to one breakdown. */
const RAW_PATIENCE_MS = 64_000;
const RAW_SAMPLES_MIN = 3;
const GOAL_EVENTS = 10_000_000;
/** Of fewer times the p99 is the slowest one, and says nothing the next time. */
const P99_SAMPLES_MIN = 100;

/** G7: a counter compared with the sum over as many raw rows, one after the other, on what is stored now. */
export async function counters(scenario: Scenario, samples: number): Promise<CounterFigures> {
  await waitForAll(scenario);
  const stored = await storedCounts(scenario);
  return await withClient(scenario.postgresUrl, async (client) => {
    await insertRawRows(client, scenario.customers[0] ?? '', stored[0] ?? 0);
    const times: Record<'counter' | 'breakdown' | 'raw', number[]> = { counter: [], breakdown: [], raw: [] };
    const path = `/usage/${scenario.customers[0]}/${scenario.meterKey}`;
    const acts = {
      counter: () => get(scenario, `${path}?consistency=eventual`),
      breakdown: () => get(scenario, `${path}/breakdown?dimension=p1&window=all&consistency=eventual`),
      raw: () => sumRawRows(client, scenario.customers[0] ?? ''),
    };
    await acts.raw();
    const rawMs = await timed(acts.raw);
    const most = Math.max(
      RAW_SAMPLES_MIN,
      Math.min(samples, Math.floor(RAW_PATIENCE_MS / (rawMs * BREAKDOWN_EVERY))),
    );
    for (let sample = 0; sample < most * BREAKDOWN_EVERY; sample++) {
      for (const name of ['counter', 'raw', 'breakdown'] as const) {
        if (name !== 'breakdown' || sample % BREAKDOWN_EVERY === 0) times[name].push(await timed(acts[name]));
      }
    }
    return figuresOf(stored, times);
  });
}

function figuresOf(
  stored: number[],
  times: Record<'counter' | 'breakdown' | 'raw', number[]>,
): CounterFigures {
  const events = stored.reduce((sum, count) => sum + count, 0);
  const [counter, raw] = [middleAndSlow(times.counter), middleAndSlow(times.raw)];
  const isFew = raw.samples < P99_SAMPLES_MIN;
  const pairs = times.counter.map((time, at) => time / (times.raw[at] ?? Number.NaN));
  const value = rounded(isFew ? median(pairs) : counter.p99 / raw.p99);
  const slowest = `${counter.p99} and ${raw.p99}`;
  const note = [
    `on ${events} events, ${stored[0] ?? 0} of them summed, ${raw.samples} times`,
    ...(isFew ? [`the median of each against the next, since these are few; the slowest ${slowest} ms`] : []),
    ...(events < GOAL_EVENTS ? ['the goal speaks of 10 M'] : []),
  ].join('; ');
  return {
    measured: { id: 'G7', value, by: isFew ? 'p50' : 'p99', isSmaller: isFew || events < GOAL_EVENTS, note },
    events,
    ofTheCustomer: stored[0] ?? 0,
    counterMs: counter,
    breakdownMs: middleAndSlow(times.breakdown),
    rawRowsMs: raw,
  };
}

/** A counter and a breakdown of the scenario's first customer. */
export async function timedReads(scenario: Scenario, samples: number) {
  const path = `/usage/${scenario.customers[0]}/${scenario.meterKey}`;
  const spread = async (query: string, count: number) => {
    const times: number[] = [];
    for (let sample = 0; sample < count; sample++)
      times.push(await timed(() => get(scenario, `${path}${query}`)));
    return middleAndSlow(times);
  };
  return {
    counterMs: await spread('?consistency=eventual', samples * BREAKDOWN_EVERY),
    breakdownMs: await spread('/breakdown?dimension=p1&window=all&consistency=eventual', samples),
  };
}

function middleAndSlow(times: number[]): Record<'p50' | 'p99' | 'samples', number> {
  const { p50, p99 } = spreadOf(times, rounded);
  return { p50, p99, samples: times.length };
}

/** Events stored, by customer. */
async function storedCounts(scenario: Scenario): Promise<number[]> {
  const stored: number[] = [];
  for (const customer of scenario.customers)
    stored.push(await countedEvents(scenario.api, { customer, meterKey: scenario.meterKey }));
  return stored;
}

export async function storedInAll(scenario: Scenario): Promise<number> {
  return (await storedCounts(scenario)).reduce((sum, count) => sum + count, 0);
}

async function get({ api }: Scenario, path: string): Promise<void> {
  await callDone(api, 'GET', path);
}
