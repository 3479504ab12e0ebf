import { Transient } from '../../schemas/failures.ts';

/**
 * Decides created / duplicate / reused, exactly once per key, for all callers.
 *
 * `claim` judges the items of one request in order and reserves the new keys in the same call: two racing
 * requests, or two items of one, cannot both get `created`. A claim is pending until `confirm`, which comes
 * only after the event is durable on the log, or until `release`, which comes only when the event was
 * certainly not written. After a crash the store is brought up to the log, so an acknowledged key is never
 * forgotten and an unacknowledged one may be found created: its retry is then a duplicate, which is true.
 */
export interface IdempotencyStore {
  /**
   * The embedded store returns at once (its decision does not await), or throws {@link KeysToRead}; a remote
   * one returns a promise.
   */
  claim(batch: ClaimBatch): Claim | Promise<Claim>;

  /**
   * The created events of these claims are durable. `logEnd` is the position behind their frame.
   * Claims are confirmed in the order in which they were made.
   */
  confirm(claims: Claim[], logEnd: number): void | Promise<void>;

  /** The created events of these claims, and of every claim made since, were certainly not written. */
  release(claims: Claim[]): void | Promise<void>;

  close(): Promise<void>;
}

/** Nothing was claimed: the store has to know more first. Claim again once `read` has resolved. */
export class KeysToRead extends Transient {
  /**
   * For a tenant, of whose requests only so many wait. Rejects with Transient `keys_unread` where that takes
   * too long, or too many wait, and with Fatal where it cannot be read.
   */
  readonly read: (tenant: string) => Promise<void>;

  constructor(read: (tenant: string) => Promise<void>) {
    super('keys_to_read', 'Keys have to be read from the disk first.');
    this.read = read;
  }
}

export const OUTCOME = { absent: 0, created: 1, duplicate: 2, reused: 3 } as const;
export type Outcome = (typeof OUTCOME)[keyof typeof OUTCOME];

export interface ClaimBatch {
  /** Items to judge, in request order. */
  count: number;
  /**
   * `count` × 10 u32 words: a record (schemas/stored/record.ts). For a duplicate the store overwrites
   * occurredAt and createdAt with those of the original event.
   */
  records: Uint32Array;
  /** 1: only look (the item fails anyway unless its key is known); the outcome is never `created`. */
  readOnly: Uint8Array;
  /** Written by the store: an Outcome per item. */
  outcomes: Uint8Array;
}

/**
 * A store that several processes share, with a log that all of them write. Their claims carry a lease: a
 * claim that its owner neither confirmed nor released can be taken over when the lease has run out, by the
 * same event and with the times that were claimed first. That also holds for a read-only item: the event was
 * good when it was claimed, it may be stored, and only writing it again makes that certain.
 */
export interface DistributedIdempotencyStore extends IdempotencyStore {
  /** Throws Transient `keys_unavailable`: what was claimed, if anything, waits for its lease to run out. */
  claim(batch: DistributedBatch): Promise<Claim>;
  /**
   * An item that another claim has taken over becomes `duplicate` in the batch's outcomes: the event belongs
   * to that claim. Throws as `claim`.
   */
  confirm(claims: Claim[], logEnd: number): Promise<void>;
  release(claims: Claim[]): Promise<void>;
  /**
   * True while the store may have lost keys: all claimed items are then searched for before they are counted.
   */
  mayHaveLostKeys(): boolean;
}

export interface DistributedBatch extends ClaimBatch {
  /** All items of a batch are of one shard, which follows from their ids. */
  shard?: number;
  /** Written by the store, bits of {@link CLAIM_STATE} per item. */
  claimStates?: Uint8Array;
}

export const CLAIM_STATE = {
  /** Created, and it may be on the log already: its times are those of the first claim. */
  takenOver: 1,
  /** Neither durable nor given up: another claim holds it. */
  pending: 2,
} as const;

export interface Claim {
  /** How many items were created: reserved, and to be confirmed or released. */
  created: number;
  /** True when an item repeats a key whose event is not durable yet: its response waits for that commit. */
  waits: boolean;
}
