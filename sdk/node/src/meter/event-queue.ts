import type { EventBatch } from './event-batch.ts';

/** Events that wait to be sent, oldest first: in memory, or in a spool. */
export interface EventQueue {
  /** Never throws. `failed`: it could not be stored just now, for a reason of the machine. */
  add(payload: string, nowMs: number): Added;
  /** The next ones, at least one, which are then not given again; undefined where none are left. */
  take(limits: TakeLimits): Claim | undefined;
  /** Added and not yet settled. */
  waiting(): number;
  /** Not yet taken. */
  untaken(): { events: number; bytes: number };
  /** False when an event of this many characters would not be stored for want of room. */
  hasRoom(chars: number): boolean;
}

export type Added = 'stored' | 'full' | 'failed';

export interface TakeLimits {
  eventsMax: number;
  /** Of the events together, as they are kept; one that is larger is taken alone. */
  bytesMax: number;
}

/** Events that are being sent. */
export interface Claim {
  events: EventBatch;
  /** They need not be kept any longer. Called once. */
  settle(): void;
  /**
   * Only these of its events wait any longer, until `settle`; the others are not kept. They are copies: the
   * body of the claim is not read any more.
   */
  keep?(events: EventBatch): void;
}
