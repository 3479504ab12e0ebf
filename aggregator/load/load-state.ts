import type { Lease } from './lease.ts';

/**
 * The load of one partition is a state machine:
 *
 * - `resuming`: the process takes the lease, sends again the ranges that an earlier owner or run left
 *   unfinished, and learns the recent ids. The state at the start, and after every failure.
 * - `paused`: between two loads. Nothing is pending: all before `position` is loaded, nothing after it.
 *   An audit runs in this state (`betweenLoads`).
 * - `loading`: one block is being inserted. It becomes `paused` when the block's range is marked.
 *
 * `closing` is not a phase but a request: the loader finishes its block, gives up the lease and ends.
 */
export type LoadPhase = { name: 'resuming' } | { name: 'loading' } | ({ name: 'paused' } & PausedPartition);

export interface PausedPartition {
  lease: Lease;
  position: number;
}

/** What the loader and its loop share. */
export interface LoadState {
  phase: LoadPhase;
  closing: boolean;
  /** A strong read waits for what is on the log. */
  readerWaits: boolean;
  /** An audit holds the pause, for as long as it needs: nothing is read ahead meanwhile. */
  isHeld: boolean;
}
