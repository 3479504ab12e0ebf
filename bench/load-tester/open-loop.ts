import { setMaxListeners } from 'node:events';
import { setTimeout as pass } from 'node:timers/promises';
import { build as buildHistogram, type Histogram } from 'hdr-histogram-js';
import type { LoadBody } from '../../tests/support/load-body.ts';
import type { LoadConnection, LoadResponse } from '../../tests/support/load-connection.ts';
import type { LoadSender } from '../../tests/support/load-senders.ts';
import type { ResponseLedger } from './response-ledger.ts';

export interface OpenLoop {
  senders: LoadSender[];
  ledger: ResponseLedger;
  /** Microseconds from when a request was due to its response. */
  histogram: Histogram;
  /** Each of those times again: from when to when, by `performance.now()`. */
  onTimed?: (fromMs: number, untilMs: number) => void;
  /** Between two requests, over all connections. */
  intervalMs: number;
  durationMs: number;
  /** Ends it early: what is in flight is still waited for. */
  interrupted?: AbortSignal;
  onResponded?: (events: number) => void;
}

export interface OpenLoopResult {
  durationMs: number;
  requests: number;
  /** Requests that fell due while every connection waited for a response, until the run was over or cut. */
  notSent: number;
  /** Sendings beyond the first, by what made them necessary. */
  repeated: Record<string, number>;
  /** Requests without a response after the whole patience, or until the interruption. */
  givenUp: number;
  /** Why a request had to be sent again, the last time. */
  lastFailure: string | undefined;
}

/** A request that was due may still be sent this long after the end: timers are not exact. */
const END_GRACE_MS = 250;
const PATIENCE_MS = 30_000;
const REPEAT_AFTER_MS = 50;
/** An hour more than the longest run: no wait is cut. Three digits of it take 116 kB. */
const TRACKED_MICROS_MAX = 25 * 3_600_000_000;

export function createHistogram(): Histogram {
  return buildHistogram({
    highestTrackableValue: TRACKED_MICROS_MAX,
    numberOfSignificantValueDigits: 3,
  });
}

/**
 * Requests fall due at a fixed rate, whatever the server does. When all connections wait, what falls due
 * waits too, and its time counts from when it was due: a paused server is not spared. What could
 * not be sent at all before the end or an interruption counts with the time it had waited until then.
 */
export async function runOpenLoop(loop: OpenLoop): Promise<OpenLoopResult> {
  const { senders, intervalMs, durationMs, interrupted = new AbortController().signal } = loop;
  // Every waiting connection listens to it, as do a few others, and Node warns of more than ten listeners.
  setMaxListeners(senders.length + 8, interrupted);
  const startedAt = performance.now();
  const endsAt = startedAt + durationMs;
  const slots = Math.max(1, Math.ceil(durationMs / intervalMs));
  let slot = 0;
  const result: OpenLoopResult = {
    durationMs: 0,
    requests: 0,
    notSent: 0,
    repeated: {},
    givenUp: 0,
    lastFailure: undefined,
  };
  const nextDue = (): number | undefined => {
    const isOver = interrupted.aborted || slot >= slots || performance.now() > endsAt + END_GRACE_MS;
    return isOver ? undefined : startedAt + slot++ * intervalMs;
  };
  let interruptedAt = interrupted.aborted ? startedAt : undefined;
  const onInterrupted = (): void => {
    interruptedAt = performance.now();
  };
  interrupted.addEventListener('abort', onInterrupted, { once: true });
  const taken = await Promise.all(
    senders.map((sender) => drive(sender, { loop, interrupted, nextDue, result })),
  );
  interrupted.removeEventListener('abort', onInterrupted);
  const endedAt = performance.now();
  result.durationMs = endedAt - startedAt;
  // What would have fallen due after an interruption was never late.
  const cutAt = interruptedAt ?? endedAt;
  const leave = (due: number): void => {
    timed(loop, due, cutAt);
    result.notSent++;
  };
  for (const due of taken) if (due !== undefined && due < cutAt) leave(due);
  for (; slot < slots && startedAt + slot * intervalMs < cutAt; slot++) leave(startedAt + slot * intervalMs);
  return result;
}

interface Driven {
  loop: OpenLoop;
  interrupted: AbortSignal;
  nextDue: () => number | undefined;
  result: OpenLoopResult;
}

/** When the request was due that it had taken and did not send any more, if there is one. */
async function drive(
  { connection, bodies }: LoadSender,
  { loop, interrupted, nextDue, result }: Driven,
): Promise<number | undefined> {
  let sent = 0;
  for (let due = nextDue(); due !== undefined; due = nextDue()) {
    const body = bodies[sent++ % bodies.length] as LoadBody;
    const send = body.next();
    // Timers may fire up to a millisecond early; then the time counts from the sending.
    const waitMs = due - performance.now();
    if (waitMs > 1) await pass(waitMs, undefined, { signal: interrupted }).catch(() => undefined);
    if (interrupted.aborted) return due;
    const from = Math.min(due, performance.now());
    const isBooked = await askUntilResponse(connection, send, { loop, interrupted, result });
    timed(loop, from, performance.now());
    result.requests++;
    if (!isBooked) continue;
    body.acknowledged();
    loop.onResponded?.(send.replayed.length);
  }
  return undefined;
}

/** False when it was given up. */
async function askUntilResponse(
  connection: LoadConnection,
  send: ReturnType<LoadBody['next']>,
  { loop, interrupted, result }: Omit<Driven, 'nextDue'>,
): Promise<boolean> {
  const until = performance.now() + PATIENCE_MS;
  let isLost = false;
  for (;;) {
    const response = await connection.ask(send.request).catch((error: unknown) => error as Error);
    const why: string | undefined =
      response instanceof Error ? 'no response' : judged(loop.ledger, send, response, isLost);
    if (why === undefined) return true;
    isLost ||= why === 'no response' || why === 'unavailable items';
    result.repeated[why] = (result.repeated[why] ?? 0) + 1;
    result.lastFailure = response instanceof Error ? response.message : why;
    if (performance.now() > until || interrupted.aborted) {
      result.givenUp++;
      if (isLost) loop.ledger.withoutResponse(send);
      return false;
    }
    await pass(REPEAT_AFTER_MS);
  }
}

/** Why it has to be sent again, if it has to. */
function judged(
  ledger: ResponseLedger,
  send: ReturnType<LoadBody['next']>,
  response: LoadResponse,
  again: boolean,
): string | undefined {
  if (response.status === 503 || response.status === 429) return String(response.status);
  return ledger.responded(send, response, again) === 'repeat' ? 'unavailable items' : undefined;
}

function timed({ histogram, onTimed }: OpenLoop, fromMs: number, untilMs: number): void {
  const micros = Math.round((untilMs - fromMs) * 1_000);
  histogram.recordValue(Math.min(TRACKED_MICROS_MAX, Math.max(1, micros)));
  onTimed?.(fromMs, untilMs);
}
