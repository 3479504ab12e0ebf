import { setTimeout as pass } from 'node:timers/promises';
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import { createLoadBody, type LoadBody, type LoadBodyOptions } from './load-bodies.ts';
import { createLoadConnection, type LoadConnection, type LoadResponse } from './load-connection.ts';

export interface LoadRunOptions extends Omit<LoadBodyOptions, 'run' | 'seed'> {
  port: number;
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
const BODIES_PER_CONNECTION = 8;
/** For one response: longer than a stall behind the load. */
const PATIENCE_MS = 30_000;

/** Batches of 500 new events over keep-alive connections. */
export async function runLoad(options: LoadRunOptions): Promise<LoadRunResult> {
  const connections = await Promise.all(
    Array.from({ length: options.connections }, (_, at) => openConnection(options, at)),
  );
  const histogram = buildHistogram({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000 });
  const startedAt = performance.now();
  const schedule = createSchedule(options, startedAt);
  const counts = await Promise.all(connections.map((one) => drive(one, schedule, histogram)));
  const durationMs = performance.now() - startedAt;
  for (const { connection } of connections) connection.close();
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

interface Connection {
  connection: LoadConnection;
  bodies: LoadBody[];
}

async function openConnection(options: LoadRunOptions, at: number): Promise<Connection> {
  const run = `${options.nowMs.toString(36).slice(-7)}${at.toString(36).padStart(2, '0')}`;
  const counter = { next: 0 };
  const bodies = Array.from({ length: BODIES_PER_CONNECTION }, (_, body) => {
    return createLoadBody({ ...options, run, seed: at * BODIES_PER_CONNECTION + body }, counter);
  });
  const connection = createLoadConnection(new URL(`http://127.0.0.1:${options.port}`), PATIENCE_MS);
  await connection.open();
  return { connection, bodies };
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
  const intervalMs = 500_000 / rate;
  let slot = 0;
  return () => {
    const due = startedAt + slot++ * intervalMs;
    return due < endsAt ? due : undefined;
  };
}

async function drive(
  { connection, bodies }: Connection,
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
    body.renewKeys();
    acknowledged += createdIn(await connection.ask(body.request));
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
