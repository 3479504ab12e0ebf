import type { Logger } from 'pino';
import type { Clock } from '../../infra/ports/clock.ts';
import type { PartitionOutcome, PartitionWriter } from '../../infra/ports/event-log.ts';
import {
  CLAIM_STATE,
  type Claim,
  type DistributedBatch,
  type DistributedIdempotencyStore,
  OUTCOME,
} from '../../infra/ports/idempotency-store.ts';
import { Transient } from '../../schemas/failures.ts';
import { encodeFrame } from '../../schemas/stored/frame.ts';
import type { BufferPool } from '../buffer-pool.ts';
import { batchOf, frameOf, type RoundPart, takeTimes } from './claim-round.ts';
import type { SetOut } from './produce-batcher.ts';

/** Items of one request that wait to be decided and made durable in one partition. */
export interface WaitingPart extends RoundPart {
  items: readonly number[];
  bytes: number;
  /** Per item of the request; written when it is decided. */
  outcomes: Uint8Array;
  enteredAtMs: number;
  /** The client has given up. A round that has begun continues; one that has not begun is not started. */
  isOver(): boolean;
  /** All its items are decided, and what they speak of is durable. */
  done(): void;
  failed(error: unknown): void;
}

export interface PartitionCommit {
  add(part: WaitingPart): void;
  /** Rejects the requests that wait for a store that does not respond. Rounds in flight continue. */
  giveUpStuck(): void;
  /** Waits for what is in flight. No part may come any more. */
  drain(): Promise<void>;
}

export interface PartitionCommitDeps {
  keys: DistributedIdempotencyStore;
  writer: PartitionWriter;
  partition: number;
  /** For the lines of frames; shared by all partitions. */
  pool: BufferPool;
  /** Shared by the rounds of all partitions. */
  setOut: SetOut;
  clock: Clock;
  log: Logger;
  /** Seconds of one append, events in the frame. */
  onFrame?: (seconds: number, eventCount: number) => void;
}

/**
 * A round takes whole parts up to this much of a frame; what is beyond goes with the next. A part alone has
 * less than 3 MB, and a record of the topic may have 8.
 */
const ROUND_BYTES_MAX = 1024 * 1024;
/** A frame is not sent that late after its claim: the lease is three times as long. */
const SENT_WITHIN_MS = 5_000;
/** Between two looks at a key that another claim holds, and how long it is looked at in all. */
const LOOK_AGAIN = { everyMs: 20, withinMs: 900 };
/** A store that does not respond in this time counts as unavailable: clients get an error within a second. */
const STUCK_MS = 900;
const NO_BUFFER = Buffer.alloc(0);
/** Log lines: a client that retries after `unknown` may find its event stored. */
const APPEND_FAILED = {
  not_sent: 'the frame was not sent: nothing was written',
  unknown: 'the log did not confirm the frame: its events may have been written',
};

/**
 * Claim, produce, confirm: one round is in flight while the next one is batched; admission bounds its size.
 * No response is sent before the events that it reports are durable. A claim is released only when its event
 * is certainly not on the log; otherwise it stays, and can be taken over when its lease has run out.
 */
export function createPartitionCommit(deps: PartitionCommitDeps): PartitionCommit {
  let waiting: WaitingPart[] = [];
  let running: Promise<void> | undefined;
  /** The round in flight, and the time of its last request to a store. */
  let inFlight: { parts: WaitingPart[]; sinceMs: number } | undefined;

  async function run(): Promise<void> {
    // Requests that arrive in the same turn of the event loop share one round.
    await new Promise(setImmediate);
    for (;;) {
      waiting = waiting.filter((part) => !part.isOver());
      if (waiting.length === 0) break;
      await round(takeRound(waiting));
    }
    running = undefined;
  }

  async function round(parts: WaitingPart[]): Promise<void> {
    const responded = () => {
      inFlight = { parts, sinceMs: deps.clock.monotonicMs() };
    };
    try {
      for (const part of settle(parts, await decide(deps, parts, responded))) lookAgain(part);
    } catch (error) {
      for (const part of parts) part.failed(error);
      if (!(error instanceof Transient)) deps.log.error({ err: error }, 'a round of claims failed');
    }
    inFlight = undefined;
  }

  function lookAgain(part: WaitingPart): void {
    if (deps.clock.monotonicMs() - part.enteredAtMs < LOOK_AGAIN.withinMs) {
      setTimeout(() => add(part), LOOK_AGAIN.everyMs);
    } else
      part.failed(
        new Transient('key_pending', 'This idempotency key is being processed by another instance. Retry.'),
      );
  }

  function add(part: WaitingPart): void {
    waiting.push(part);
    running ??= run();
  }

  return {
    add,
    giveUpStuck() {
      if (!inFlight || deps.clock.monotonicMs() - inFlight.sinceMs < STUCK_MS) return;
      const error = new Transient(
        'stores_slow',
        'The event log or the idempotency store did not respond in time.',
      );
      for (const part of [...inFlight.parts, ...waiting.splice(0)]) part.failed(error);
    },
    async drain() {
      while (running) await running;
    },
  };
}

/** `responded` is called when a store has responded. Throws Transient unless all is durable and confirmed. */
async function decide(
  deps: PartitionCommitDeps,
  parts: WaitingPart[],
  responded: () => void,
): Promise<Required<DistributedBatch>> {
  const claimedAtMs = deps.clock.monotonicMs();
  const batch = batchOf(parts, deps.partition);
  responded();
  const claim = await claimed(deps, batch);
  responded();
  takeTimes(parts, batch);
  if (claim.created > 0) await makeDurable(deps, { parts, batch, claim, claimedAtMs, responded });
  return batch;
}

/** With something to produce it returns together with the claims of other partitions. */
async function claimed({ keys, setOut }: PartitionCommitDeps, batch: DistributedBatch): Promise<Claim> {
  const batched = setOut();
  let toProduce = 0;
  try {
    const claim = await keys.claim(batch);
    toProduce = claim.created;
    return claim;
  } finally {
    if (toProduce > 0) await batched.comes();
    else batched.leaves();
  }
}

/** Returns the parts with items that another claim holds: checked again until those are durable or free. */
function settle(parts: WaitingPart[], { outcomes, claimStates }: Required<DistributedBatch>): WaitingPart[] {
  const held: WaitingPart[] = [];
  let at = 0;
  for (const part of parts) {
    const pending: number[] = [];
    for (const item of part.items) {
      if (((claimStates[at] ?? 0) & CLAIM_STATE.pending) !== 0) pending.push(item);
      part.outcomes[item] = outcomes[at++] ?? OUTCOME.absent;
    }
    if (pending.length === 0) part.done();
    else held.push({ ...part, items: pending });
  }
  return held;
}

function takeRound(waiting: WaitingPart[]): WaitingPart[] {
  let bytes = 0;
  let taken = 0;
  for (const part of waiting) {
    bytes += part.bytes;
    if (taken > 0 && bytes > ROUND_BYTES_MAX) break;
    taken++;
  }
  return waiting.splice(0, taken);
}

interface Claimed {
  parts: WaitingPart[];
  batch: Required<DistributedBatch>;
  claim: Claim;
  claimedAtMs: number;
  /** A store has responded. */
  responded: () => void;
}

/** Throws Transient unless what was claimed is durable and confirmed. */
async function makeDurable(deps: PartitionCommitDeps, claimed: Claimed): Promise<void> {
  const { keys, log } = deps;
  const outcome = await append(deps, claimed);
  claimed.responded();
  if (outcome.status === 'durable') return await keys.confirm([claimed.claim], outcome.end);
  log.warn(
    { err: outcome.cause, status: outcome.status, partition: deps.partition },
    APPEND_FAILED[outcome.status],
  );
  // mutant: released-on-unknown, kept-when-not-sent
  if (outcome.status === 'not_sent') {
    // Without a response the keys stay claimed until the lease is over, which does no harm.
    await keys.release([claimed.claim]).catch((err: unknown) => log.debug({ err }, 'claims stay'));
  }
  throw new Transient('log_unavailable', 'The event log is temporarily unavailable. Retry the request.', {
    cause: outcome.cause,
  });
}

async function append(deps: PartitionCommitDeps, claimed: Claimed): Promise<PartitionOutcome> {
  const { writer, keys, clock, pool, onFrame } = deps;
  const { parts, batch, claimedAtMs } = claimed;
  let buffer: Buffer = NO_BUFFER;
  const content = frameOf(parts, batch, keys.mayHaveLostKeys(), (bytes) => {
    buffer = pool.take(bytes);
    return buffer;
  });
  const frame = encodeFrame({ ...content, logId: writer.logId, committedAtMs: clock.nowMs() });
  const startedAtMs = clock.monotonicMs();
  // A process that paused in between may have lost its claims already.
  if (startedAtMs - claimedAtMs > SENT_WITHIN_MS) return { status: 'not_sent', cause: 'the claim is old' };
  const outcome = await writer.append(frame);
  // With an unknown outcome its bytes may still be sent.
  if (outcome.status !== 'unknown') pool.give(buffer);
  onFrame?.((clock.monotonicMs() - startedAtMs) / 1000, content.eventCount);
  return outcome;
}
