import { setTimeout as pass } from 'node:timers/promises';
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import { createLoadBody, type LoadBody, type LoadBodyOptions } from './load-bodies.ts';
import { type LoadSocket, openLoadSocket } from './load-socket.ts';

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

/** Batches of 500 new events over keep-alive connections. */
export async function runLoad(options: LoadRunOptions): Promise<LoadRunResult> {
  const connections = await Promise.all(
    Array.from({ length: options.connections }, (_, at) => openConnection(options, at)),
  );
  const histogram = buildHistogram({ lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000 });
  const startedAt = performance.now();
  const schedule = createSchedule(options, startedAt);
  const counts = await Promise.all(connections.map((connection) => drive(connection, schedule, histogram)));
  const durationMs = performance.now() - startedAt;
  for (const { socket } of connections) socket.close();
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
  socket: LoadSocket;
  bodies: LoadBody[];
}

async function openConnection(options: LoadRunOptions, at: number): Promise<Connection> {
  const run = `${options.nowMs.toString(36).slice(-7)}${at.toString(36).padStart(2, '0')}`;
  const counter = { next: 0 };
  const bodies = Array.from({ length: BODIES_PER_CONNECTION }, (_, body) => {
    return createLoadBody({ ...options, run, seed: at * BODIES_PER_CONNECTION + body }, counter);
  });
  return { socket: await openLoadSocket('127.0.0.1', options.port), bodies };
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
  { socket, bodies }: Connection,
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
    acknowledged += await socket.send(body.request);
    histogram.recordValue(Math.max(1, Math.round((performance.now() - due) * 1_000)));
  }
  return acknowledged;
}
