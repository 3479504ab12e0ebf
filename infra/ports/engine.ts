import type { Rejection } from '../../schemas/error-codes.ts';
import type { ChangeRows } from '../../schemas/stored/change-rows.ts';
import type { TouchedSpan } from '../../schemas/stored/frame.ts';
import type { Claim } from './idempotency-store.ts';

/**
 * Steps 2–5 of an event's path: read and check, identify, decide, serialise. Bytes in; the frame part and the
 * bytes of the response out. It writes nothing: the group commit makes its `commit` true.
 *
 * Two calls, so that every wait ends before anything is decided.
 */
export interface Engine<Reading = unknown> {
  /**
   * Reads and checks the whole request and resolves its customers and meters. Reserves nothing. Never throws
   * for an invalid request: the rejection becomes the response. An unavailable store becomes an item error.
   */
  read(request: UsageRequest): Reading | Promise<Reading>;

  /**
   * Claims the keys and makes frame part and response. The caller hands `commit` to the group commit in the
   * same turn, so that frames carry events in the order in which their keys were claimed. Throws KeysToRead
   * (idempotency-store.ts) where keys are to be read first. After that the request is read again, from its
   * body.
   */
  decide(reading: Reading): Decision;
}

/**
 * The same where keys are claimed elsewhere, which takes a while: everything is made before the claim, for
 * the case that all items are new, and the response is made again where they are not.
 */
export interface DistributedEngine<Reading = unknown> {
  read(request: UsageRequest): Reading | Promise<Reading>;
  /**
   * In the same turn as `read`, or as its promise ended. A response alone: the request as a whole is
   * rejected.
   */
  identify(reading: Reading): Identified | { response: Response };
}

/** A request whose events have ids. All of it is its own: no other request touches it. */
export interface Identified {
  /** How many items have ids; the others are rejected whatever the claim returns. */
  count: number;
  /** `count` × 10 words; the store writes the times of first events into it. */
  records: Uint32Array;
  /** 1: the item is rejected unless its key is known. */
  readOnly: Uint8Array;
  /** The short lines of all whose customer and meter are known, one after the other. */
  lines: Buffer;
  /** Where each item's line ends; it begins where the one before ended. */
  lineEnds: Uint32Array;
  /** As in {@link TouchedSpan}, each once. */
  customerMeters: string[];
  /** Which of `customerMeters` an item is of; meaningless for one without a line. */
  customerMeterOf: Uint16Array;
  /** The load looks each of them up before it counts it, as what may be on the log already. */
  areFlagged?: boolean;
  /** Items so old that the store may have forgotten their keys. */
  cold: readonly number[];
  /** An item that cannot be decided: it is rejected, whatever its outcome. */
  reject(item: number, rejection: Rejection): void;
  /** Once, with an Outcome per item, none of them pending any more. */
  response(outcomes: Uint8Array): Response;
  /** The lines are no longer read: their memory is used again. */
  release(): void;
}

export interface UsageRequest {
  environment: string;
  kind: 'single' | 'batch' | 'ndjson';
  /** The caller's: an engine reads it in the turn of `read` only. */
  body: Buffer;
  /** The body is there until the reply. Else it was lent for this turn. */
  isBodyKept?: boolean;
  /** The `Idempotency-Key` header of a single event; its body may contain the key as well, or instead. */
  idempotencyKey?: string | undefined;
  /** `include=events` of a batch. */
  includeEvents: boolean;
  /** `Prefer: handling=strict`: unknown members, and values that would be rounded, are rejected. */
  isStrict?: boolean;
  /** `Prefer: numbers=text`: the value of an event is a JSON string. */
  numbersAsText?: boolean;
  /**
   * Usage that the installation itself writes (infra/ports/usage-writer.ts). Its idempotency keys are a space
   * of their own: none is one that a client can send.
   */
  isOwn?: boolean;
  /**
   * The change of usage that the events are part of. Of voids (`isOwn` alone) the idempotency key of an item
   * is the id of the event that it takes away, and the rest of it is that event's.
   */
  change?: ChangeRows | undefined;
  requestId: string;
}

export interface Response {
  status: number;
  /** True for a single event that was seen before: `Idempotent-Replayed: true`. */
  replayed: boolean;
  body: Buffer;
  /** Distinct names of members that are not known here, at most ten: `X-Ignored-Fields`. */
  ignored?: readonly string[];
  /** Rejected items of a batch: `X-Item-Errors`. */
  itemErrors?: number;
  /** The body is no longer read: its memory is used again. At most once. */
  release?: () => void;
}

export interface Decision {
  response: Response;
  /** Present when the response may be sent only after a commit. */
  commit?: CommitPart;
}

/**
 * What one request adds to the next frame. With no event in it, it still waits for that frame. `records`,
 * `lines` and `numbers` may lie in memory of the engine: they last until its next request, and are copied in
 * the same turn.
 */
export interface CommitPart {
  claim: Claim;
  eventCount: number;
  /** 40 B per created event. */
  records: Uint8Array;
  /** Their short lines (schemas/stored/row-lines.ts), each ended by a line feed. */
  lines: Uint8Array;
  /** Of each created event, which of `touched` it is of. */
  numbers: Uint16Array;
  touched: TouchedSpan[];
}
