import type { Clock } from '../../infra/ports/clock.ts';
import type { CommitPart } from '../../infra/ports/engine.ts';
import type { AppendOutcome, EventLogWriter } from '../../infra/ports/event-log.ts';
import type { IdempotencyStore } from '../../infra/ports/idempotency-store.ts';
import { encodeFrame, type TouchedSpan } from '../../schemas/stored/frame.ts';

export type CommitOutcome = 'durable' | 'no_space';

export interface GroupCommit {
  /**
   * Adds a request's events to the frame that is being batched. Calls `resolve` once that frame, and every
   * one before it, is durable, or certainly not written; or `reject` with what `failed` rejects with. Neither
   * may throw: a frame calls those of many requests, one after the other.
   */
  commit(part: CommitPart, resolve: (outcome: CommitOutcome) => void, reject: (error: unknown) => void): void;
  /** Rejects when the log can no longer be trusted: the process must end. Never resolves. */
  readonly failed: Promise<never>;
  /** For how long the frame that is being written has been; 0 while none is. */
  writingMs(): number;
  /** Waits for what is in flight. No part may come any more. */
  drain(): Promise<void>;
}

export interface GroupCommitDeps {
  log: EventLogWriter;
  store: IdempotencyStore;
  clock: Clock;
  /** Seconds of one append, events in the frame. */
  onFrame?: (seconds: number, eventCount: number) => void;
}

interface Waiting {
  part: CommitPart;
  resolve: (outcome: CommitOutcome) => void;
  reject: (error: unknown) => void;
}

/** A frame takes whole requests up to this; what is beyond goes with the next. */
const FRAME_BYTES_MAX = 4 * 1024 * 1024;

/**
 * One frame is in flight while the next one is batched; there is no linger. Admission bounds the batch: every
 * part belongs to a request whose bytes are counted there.
 */
export function createGroupCommit(deps: GroupCommitDeps): GroupCommit {
  const waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  let broken: { error: unknown } | undefined;
  let beganAtMs: number | undefined;
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined); // callers watch `failed`; this avoids an unhandled rejection

  async function run(): Promise<void> {
    // Requests that arrive in the same turn of the event loop share one frame.
    await new Promise(setImmediate);
    while (waiting.length > 0) await flush(takeFrame(waiting));
    running = undefined;
  }

  async function flush(frame: Waiting[]): Promise<void> {
    beganAtMs = deps.clock.monotonicMs();
    try {
      // mutant: response-settled-before-its-write, memory-given-back-before-the-write
      settle(frame, await write(deps, frame, waiting));
      // Not after a failure: the system may still be writing them.
      for (const { part } of frame) part.giveBack?.();
    } catch (error) {
      // mutant: claim-released-on-unknown-outcome
      for (const { reject } of frame) reject(error);
      throw error;
    } finally {
      beganAtMs = undefined;
    }
  }

  function stop(error: unknown): void {
    running = undefined;
    broken = { error };
    fail(error);
    for (const { reject } of waiting.splice(0)) reject(error);
  }

  return {
    failed,
    commit(part, resolve, reject) {
      if (broken) return reject(broken.error);
      // mutant: response-before-flush
      waiting.push({ part, resolve, reject });
      running ??= run().catch(stop);
    },
    writingMs: () => (beganAtMs === undefined ? 0 : deps.clock.monotonicMs() - beganAtMs),
    async drain() {
      while (running) await running;
    },
  };
}

function takeFrame(waiting: Waiting[]): Waiting[] {
  let bytes = 0;
  let taken = 0;
  for (const { part } of waiting) {
    bytes += part.lines.length + part.records.length;
    if (taken > 0 && bytes > FRAME_BYTES_MAX) break;
    taken++;
  }
  return waiting.splice(0, taken);
}

/** Writes the frame and settles its claims. Without space the frame takes in all parts that wait. */
async function write(deps: GroupCommitDeps, frame: Waiting[], waiting: Waiting[]): Promise<CommitOutcome> {
  const eventCount = frame.reduce((sum, { part }) => sum + part.eventCount, 0);
  // Replays alone: all they wait for was in an earlier frame, and that one is durable by now.
  if (eventCount === 0) return 'durable';
  const started = deps.clock.monotonicMs();
  const outcome = await append(deps, frame, eventCount);
  if (outcome.status === 'no_space') {
    // Requests in the next frame may depend on these keys: that frame is released too, and every client
    // retries.
    frame.push(...waiting.splice(0));
    await deps.store.release(frame.map(({ part }) => part.claim));
    return 'no_space';
  }
  deps.onFrame?.((deps.clock.monotonicMs() - started) / 1000, eventCount);
  const claims = frame.map(({ part }) => part.claim);
  await deps.store.confirm(claims, outcome.end);
  return 'durable';
}

function append(
  { log, clock }: GroupCommitDeps,
  frame: Waiting[],
  eventCount: number,
): Promise<AppendOutcome> {
  const bytes = encodeFrame({
    logId: log.logId,
    committedAtMs: clock.nowMs(),
    eventCount,
    touched: mergeTouched(frame),
    records: frame.map(({ part }) => part.records),
    recheck: [],
    lines: frame.map(({ part }) => part.lines),
  });
  return log.append(bytes);
}

function settle(frame: Waiting[], outcome: CommitOutcome): void {
  for (const { resolve } of frame) resolve(outcome);
}

function mergeTouched(frame: Waiting[]): TouchedSpan[] {
  const merged = new Map<string, TouchedSpan>();
  for (const { part } of frame) {
    for (const span of part.touched) {
      const known = merged.get(span.pair);
      if (!known) {
        merged.set(span.pair, span);
        continue;
      }
      known.occurredFromMs = Math.min(known.occurredFromMs, span.occurredFromMs);
      known.occurredToMs = Math.max(known.occurredToMs, span.occurredToMs);
    }
  }
  return [...merged.values()];
}
