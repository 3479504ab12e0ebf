import { createMutex } from '../../infra/platform/mutex.ts';
import { Transient } from '../../schemas/failures.ts';
import type { Lease } from './lease.ts';

/**
 * The load of one partition is a state machine:
 *
 *     resuming ──▶ paused ──▶ loading ──▶ paused …
 *        ▲           │           │
 *        └───────────┴───────────┘  any failure, a lost lease, another owner
 *
 * - `resuming`: the process takes the lease, sends again the ranges that an earlier owner or run left
 *   unfinished, and learns the recent ids. The state at the start, and after every failure.
 * - `paused`: between two loads. Nothing is pending: all before `position` is loaded, nothing after it.
 *   An audit holds the partition in this state.
 * - `loading`: one block is being inserted. It becomes `paused` when the block's range is marked.
 *
 * `closing` is a request, not a state: the loader finishes its block, gives up the lease and ends.
 */
export type LoadPhase = { name: 'resuming' } | { name: 'loading' } | ({ name: 'paused' } & PausedPartition);

export interface PausedPartition {
  lease: Lease;
  position: number;
}

/** What the loader, its loop and the audits share. Loads, resumes and holds never overlap. */
export interface LoadState {
  readonly phase: LoadPhase;
  readonly closing: boolean;
  /** An audit holds the pause, for as long as it needs: nothing is read ahead meanwhile. */
  readonly isHeld: boolean;
  /** A strong read waits for what is on the log. */
  readerWaits: boolean;
  /** `resuming`: runs `work` while nothing is loaded or held. */
  resume<T>(work: () => Promise<T>): Promise<T>;
  /** `resuming` → `paused`. */
  begin(at: PausedPartition): void;
  /** `paused` → `loading` → `paused` where the loaded block ends. A failure leaves it `loading`. */
  load(lease: Lease, work: (loadedTo: (position: number) => void) => Promise<void>): Promise<void>;
  /** Stays `paused` while `work` runs. Throws Transient `partition_not_standing` in any other state. */
  hold<T>(work: (paused: PausedPartition) => Promise<T>): Promise<T>;
  /** Any state → `resuming`. */
  giveUp(): void;
  close(): void;
}

export function createLoadState(): LoadState {
  const turn = createMutex();
  let phase: LoadPhase = { name: 'resuming' };
  let closing = false;
  let isHeld = false;
  const pause = (at: PausedPartition) => {
    phase = { name: 'paused', ...at };
  };
  return {
    get phase() {
      return phase;
    },
    get closing() {
      return closing;
    },
    get isHeld() {
      return isHeld;
    },
    readerWaits: false,
    resume: (work) => turn(work),
    begin: pause,
    load: (lease, work) =>
      turn(async () => {
        phase = { name: 'loading' };
        await work((position) => pause({ lease, position }));
      }),
    hold: (work) =>
      turn(async () => {
        if (phase.name !== 'paused') {
          throw new Transient('partition_not_standing', 'The partition is not held, or stuck.');
        }
        isHeld = true;
        try {
          return await work(phase);
        } finally {
          isHeld = false;
        }
      }),
    giveUp() {
      phase = { name: 'resuming' };
    },
    close() {
      closing = true;
    },
  };
}
