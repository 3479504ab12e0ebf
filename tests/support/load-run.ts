import { setTimeout as pass } from 'node:timers/promises';
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import type { LoadResponse } from './load-connection.ts';
import { createLoadSenders, type LoadSender } from './load-senders.ts';
import type { World } from './world.ts';

export interface LoadRunOptions {
  /** Of the instance. */
  origin: string;
  key: string;
  /** Events are of its customers, on its declared meters. */
  world: World;
  nowMs: number;
  /** How far back occurredAt lies at most. */
  spreadMs: number;
  connections: number;
  durationMs: number;
  /**
   * Events per second offered. Undefined: closed loop, each connection sends as soon as its response came.
   */
  rate?: number;
}

export interface LoadRunResult {
  acknowledged: number;
  durationMs: number;
  /** Milliseconds from when a batch was due to its response, so that a stalled server is not spared. */
  latencyMs: { p50: number; p99: number; max: number };
}

/** Each connection takes turns with a few bodies of its own. */
const BODIES_EACH = 8;
const BATCH = 500;
/** For one response: longer than a stall behind the load. */
const PATIENCE_MS = 30_000;

/** Batches of 500 new events over keep-alive connections. */
export async function runLoad(options: LoadRunOptions): Promise<LoadRunResult> {
  const senders = createLoadSenders({
    ...options,
    ...namesOf(options.world),
    url: new URL(options.origin),
    bodiesEach: BODIES_EACH,
    batch: BATCH,
    seed: 0,
    keyPrefix: `${options.nowMs.toString(36)}-`,
    timeoutMs: PATIENCE_MS,
  });
  await Promise.all(senders.map(({ connection }) => connection.open()));
  const histogram = buildHistogram({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000 });
  const startedAt = performance.now();
  const schedule = createSchedule(options, startedAt);
  const counts = await Promise.all(senders.map((one) => drive(one, schedule, histogram)));
  const durationMs = performance.now() - startedAt;
  for (const { connection } of senders) connection.close();
  return {
    acknowledged: counts.reduce((sum, count) => sum + count, 0),
    durationMs,
    latencyMs: {
      p50: histogram.getValueAtPercentile(50) / 1_000,
      p99: histogram.getValueAtPercentile(99) / 1_000,
      max: histogram.maxValue / 1_000,
    },
  };
}

/** What events of a world are of: its customers, its declared meters, and the properties that these read. */
export function namesOf({ customers, meters }: World) {
  return {
    customers: customers.map(({ id }) => id),
    meterKeys: meters.filter(({ declared }) => declared).map(({ key }) => key),
    properties: ['user', 'size', 'cached'],
  };
}

/** When the next batch is due; undefined when the run is over. Shared by all connections. */
type Schedule = () => number | undefined;

function createSchedule({ rate, durationMs }: LoadRunOptions, startedAt: number): Schedule {
  const endsAt = startedAt + durationMs;
  if (rate === undefined) {
    return () => {
      const now = performance.now();
      return now < endsAt ? now : undefined;
    };
  }
  const intervalMs = (BATCH * 1_000) / rate;
  let slot = 0;
  return () => {
    const due = startedAt + slot++ * intervalMs;
    return due < endsAt ? due : undefined;
  };
}

async function drive(
  { connection, bodies }: LoadSender,
  schedule: Schedule,
  histogram: Histogram,
): Promise<number> {
  let acknowledged = 0;
  let sent = 0;
  for (let due = schedule(); due !== undefined; due = schedule()) {
    const waitMs = due - performance.now();
    if (waitMs > 1) await pass(waitMs);
    const body = bodies[sent++ % bodies.length];
    if (!body) throw new Error('a connection without bodies');
    acknowledged += createdIn(await connection.ask(body.next().request));
    histogram.recordValue(Math.max(1, Math.round((performance.now() - due) * 1_000)));
  }
  return acknowledged;
}

/** The summary lies within this many bytes of the body. */
const SUMMARY_BYTES = 256;

function createdIn({ status, body }: LoadResponse): number {
  const text = body.toString('latin1', 0, SUMMARY_BYTES);
  const created = status === 200 ? /"created":(\d+)/.exec(text)?.[1] : undefined;
  if (created === undefined) throw new Error(`unexpected response: ${status} ${text}`);
  return Number(created);
}
