import type { Clock } from '../../infra/ports/clock.ts';
import type { CommitPart } from '../../infra/ports/engine.ts';
import type { EventLogWriter } from '../../infra/ports/event-log.ts';
import type { IdempotencyStore } from '../../infra/ports/idempotency-store.ts';
import { type Batch, type Batches, createBatches } from './batches.ts';

export type CommitOutcome = 'durable' | 'no_space';

export interface GroupCommit {
  /**
   * Adds a request's events to the frame that is being batched; the part's memory is read in this call only.
   * Calls the waiter's `resolve` once that frame, and every one before it, is durable, or certainly not
   * written; or its `reject` with what `failed` rejects with.
   */
  commit(part: CommitPart, waiter: CommitWaiter): void;
  /** Rejects when the log can no longer be trusted: the process must end. Never resolves. */
  readonly failed: Promise<never>;
  /** For how long the frame that is being written has been; 0 while none is. */
  writingMs(): number;
  /** Waits for what is in flight. No part may come any more. */
  drain(): Promise<void>;
}

/** What made a part. Neither may throw: a frame calls those of many requests, one after the other. */
export interface CommitWaiter {
  resolve(outcome: CommitOutcome): void;
  reject(error: unknown): void;
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
  waiter: CommitWaiter;
}

/**
 * One frame is in flight while the next one is batched; there is no linger. Admission bounds the batch: every
 * part belongs to a request whose bytes are counted there.
 */
export function createGroupCommit(deps: GroupCommitDeps): GroupCommit {
  const batches = createBatches<Waiting>();
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
    for (let batch = batches.take(); batch; batch = batches.take()) await flush(batch);
    running = undefined;
  }

  async function flush(batch: Batch<Waiting>): Promise<void> {
    beganAtMs = deps.clock.monotonicMs();
    try {
      // mutant: response-settled-before-its-write, memory-given-back-before-the-write
      settle(batch, await write(deps, batch, batches));
      // Not after a failure: the system may still be writing it.
      batches.giveBack(batch);
    } catch (error) {
      // mutant: claim-released-on-unknown-outcome
      for (const { waiter } of batch.requests) waiter.reject(error);
      throw error;
    } finally {
      beganAtMs = undefined;
    }
  }

  function stop(error: unknown): void {
    running = undefined;
    broken = { error };
    fail(error);
    for (const { waiter } of batches.takeOthers()) waiter.reject(error);
  }

  return {
    failed,
    commit(part, waiter) {
      if (broken) return waiter.reject(broken.error);
      try {
        // mutant: response-before-flush
        batches.add({ part, waiter });
      } catch (error) {
        // Without memory for its copy. In this turn, so no later claim depends on it; a retry is new.
        // mutant: claims-kept-without-memory
        Promise.resolve(deps.store.release([part.claim])).catch(stop);
        return waiter.reject(error);
      }
      running ??= run().catch(stop);
    },
    writingMs: () => (beganAtMs === undefined ? 0 : deps.clock.monotonicMs() - beganAtMs),
    async drain() {
      while (running) await running;
    },
  };
}

/** Writes the frame and settles its claims. Without space the frame takes in all requests behind it. */
async function write(
  { log, store, clock, onFrame }: GroupCommitDeps,
  { frame, requests }: Batch<Waiting>,
  behind: Batches<Waiting>,
): Promise<CommitOutcome> {
  const eventCount = frame.eventCount();
  // Replays alone: all they wait for was in an earlier frame, and that one is durable by now.
  if (eventCount === 0) return 'durable';
  const started = clock.monotonicMs();
  const outcome = await log.append(frame.seal({ logId: log.logId, committedAtMs: clock.nowMs() }));
  if (outcome.status === 'no_space') {
    // Requests in the next frame may depend on these keys: that frame is released too, and every client
    // retries.
    requests.push(...behind.takeOthers());
    await store.release(requests.map(({ part }) => part.claim));
    return 'no_space';
  }
  onFrame?.((clock.monotonicMs() - started) / 1000, eventCount);
  const claims = requests.map(({ part }) => part.claim);
  await store.confirm(claims, outcome.end);
  return 'durable';
}

function settle({ requests }: Batch<Waiting>, outcome: CommitOutcome): void {
  for (const { waiter } of requests) waiter.resolve(outcome);
}
