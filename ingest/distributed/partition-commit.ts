import type { Logger } from 'pino';
import type { Clock } from '../../infra/ports/clock.ts';
import type { PartitionOutcome, PartitionWriter } from '../../infra/ports/event-log.ts';
import {
  type Claim,
  type DistributedBatch,
  type DistributedIdempotencyStore,
  NOTE,
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
  /** Given up by who asked: what is under way goes on, what is not begun is not begun. */
  isOver(): boolean;
  /** All its items are decided, and what they speak of is durable. */
  done(): void;
  failed(error: unknown): void;
}

export interface PartitionCommit {
  add(part: WaitingPart): void;
  /** Where a store does not answer, who waits for it is told so. What is under way goes on. */
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

/** A round takes whole parts up to this much of lines; what is beyond goes with the next. */
const ROUND_BYTES_MAX = 1024 * 1024;
/** A frame is not sent that late after its claim: the lease is three times as long. */
const SENT_WITHIN_MS = 5_000;
/** Between two looks at a key that another claim holds, and how long it is looked at in all. */
const LOOK_AGAIN = { everyMs: 20, withinMs: 900 };
/** A store that does not answer in this time is as good as away: clients are told within a second. */
const STUCK_MS = 900;
const NO_ROOM = Buffer.alloc(0);

/**
 * Claim, produce, confirm: one round is in flight while the next one gathers. What gathers is bounded by
 * admission. Nothing is answered before what it speaks of is durable, and a claim is given back only when its
 * event is certainly not on the log: otherwise it stays, and can be taken over when its lease has run out.
 */
export function createPartitionCommit(deps: PartitionCommitDeps): PartitionCommit {
  let gathering: WaitingPart[] = [];
  let running: Promise<void> | undefined;
  /** The round that is under way, and when its last question to a store was put. */
  let asking: { parts: WaitingPart[]; sinceMs: number } | undefined;

  async function run(): Promise<void> {
    // Requests that arrive in the same turn of the event loop share one round.
    await new Promise(setImmediate);
    for (;;) {
      gathering = gathering.filter((part) => !part.isOver());
      if (gathering.length === 0) break;
      await round(takeRound(gathering));
    }
    running = undefined;
  }

  async function round(parts: WaitingPart[]): Promise<void> {
    const responded = () => {
      asking = { parts, sinceMs: deps.clock.monotonicMs() };
    };
    try {
      for (const part of settle(parts, await decide(deps, parts, responded))) lookAgain(part);
    } catch (error) {
      for (const part of parts) part.failed(error);
      if (!(error instanceof Transient)) deps.log.error({ err: error }, 'a round of claims failed');
    }
    asking = undefined;
  }

  function lookAgain(part: WaitingPart): void {
    if (deps.clock.monotonicMs() - part.enteredAtMs < LOOK_AGAIN.withinMs) {
      setTimeout(() => add(part), LOOK_AGAIN.everyMs);
    } else part.failed(new Transient('key_pending', 'Another process writes this event, or has just died.'));
  }

  function add(part: WaitingPart): void {
    gathering.push(part);
    running ??= run();
  }

  return {
    add,
    giveUpStuck() {
      if (!asking || deps.clock.monotonicMs() - asking.sinceMs < STUCK_MS) return;
      const error = new Transient('stores_slow', 'Log or keys do not answer in time.');
      for (const part of [...asking.parts, ...gathering.splice(0)]) part.failed(error);
    },
    async drain() {
      while (running) await running;
    },
  };
}

/** `answered`: a store has, or is about to be asked. Throws Transient unless all is durable and confirmed. */
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
  const companion = setOut();
  let toProduce = 0;
  try {
    const claim = await keys.claim(batch);
    toProduce = claim.created;
    return claim;
  } finally {
    if (toProduce > 0) await companion.comes();
    else companion.leaves();
  }
}

/**
 * Gives the parts of which some items are held by another claim: looked at again those become durable, or
 * free.
 */
function settle(parts: WaitingPart[], { outcomes, notes }: Required<DistributedBatch>): WaitingPart[] {
  const held: WaitingPart[] = [];
  let at = 0;
  for (const part of parts) {
    const pending: number[] = [];
    for (const item of part.items) {
      if (((notes[at] ?? 0) & NOTE.pending) !== 0) pending.push(item);
      part.outcomes[item] = outcomes[at++] ?? OUTCOME.absent;
    }
    if (pending.length === 0) part.done();
    else held.push({ ...part, items: pending, bytes: 0 });
  }
  return held;
}

function takeRound(gathering: WaitingPart[]): WaitingPart[] {
  let bytes = 0;
  let taken = 0;
  for (const part of gathering) {
    bytes += part.bytes;
    if (taken > 0 && bytes > ROUND_BYTES_MAX) break;
    taken++;
  }
  return gathering.splice(0, taken);
}

interface Claimed {
  parts: WaitingPart[];
  batch: Required<DistributedBatch>;
  claim: Claim;
  claimedAtMs: number;
  /** A store has answered. */
  responded: () => void;
}

/** Throws Transient unless what was claimed is durable and confirmed. */
async function makeDurable(deps: PartitionCommitDeps, claimed: Claimed): Promise<void> {
  const { keys, log } = deps;
  const outcome = await append(deps, claimed);
  claimed.responded();
  if (outcome.status === 'durable') return await keys.confirm([claimed.claim], outcome.end);
  log.warn({ err: outcome.cause, status: outcome.status, partition: deps.partition }, 'nothing was written');
  if (outcome.status === 'not_sent') {
    // Without an answer the keys stay claimed until the lease is over, which harms nobody.
    await keys.release([claimed.claim]).catch((err: unknown) => log.debug({ err }, 'claims stay'));
  }
  throw new Transient('log_unavailable', 'The log does not take events just now.', { cause: outcome.cause });
}

async function append(deps: PartitionCommitDeps, claimed: Claimed): Promise<PartitionOutcome> {
  const { writer, keys, clock, pool, onFrame } = deps;
  const { parts, batch, claimedAtMs } = claimed;
  let room: Buffer = NO_ROOM;
  const content = frameOf(parts, batch, keys.isYoung(), (bytes) => {
    room = pool.take(bytes);
    return room;
  });
  const frame = encodeFrame({ ...content, logId: writer.logId, committedAtMs: clock.nowMs() });
  const startedAtMs = clock.monotonicMs();
  // Who stood still in between may have lost his claims already.
  if (startedAtMs - claimedAtMs > SENT_WITHIN_MS) return { status: 'not_sent', cause: 'the claim is old' };
  const outcome = await writer.append(frame);
  // With an unknown outcome its bytes may still be on their way.
  if (outcome.status !== 'unknown') pool.give(room);
  onFrame?.((clock.monotonicMs() - startedAtMs) / 1000, content.eventCount);
  return outcome;
}
