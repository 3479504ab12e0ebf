import type { TouchedSpan } from '../../schemas/frame.ts';
import type { Claim } from './idempotency-store.ts';

/**
 * Steps 2–5 of an event's way: read and check, identify, decide, serialise. Bytes in; the frame part and the
 * answer's bytes out. It writes nothing: what it gives as `commit` becomes true with the group commit.
 *
 * Two acts, so that whatever has to be waited for is waited for before anything is decided.
 */
export interface Engine<Reading = unknown> {
  /**
   * Reads and checks the whole request and resolves its customers and meters. Reserves nothing. Never throws
   * for what a client sent: a refusal becomes the answer. A store that is away becomes an item error.
   */
  read(request: UsageRequest): Reading | Promise<Reading>;

  /**
   * Claims the keys and makes frame part and answer. The caller hands `commit` to the group commit in the
   * same turn, so that frames carry events in the order in which their keys were claimed.
   */
  decide(reading: Reading): Decision;
}

export interface UsageRequest {
  environment: string;
  kind: 'single' | 'batch' | 'ndjson';
  body: Buffer;
  /** The `Idempotency-Key` header of a single event. */
  idempotencyKey?: string;
  /** `include=events` of a batch. */
  includeEvents: boolean;
  requestId: string;
}

export interface Answer {
  status: number;
  /** True for a single event that was seen before: `Idempotent-Replayed: true`. */
  replayed: boolean;
  body: Buffer;
}

export interface Decision {
  answer: Answer;
  /** Present when the answer may go out only after a commit. */
  commit?: CommitPart;
}

/** What one request adds to the next frame. With no event in it, it still waits for that frame. */
export interface CommitPart {
  claim: Claim;
  eventCount: number;
  /** 40 B per created event. */
  records: Uint8Array;
  /** Their lines, each ended by a line feed. */
  lines: Uint8Array;
  touched: TouchedSpan[];
}
