import { Rejected } from '../../schemas/failures.ts';

/** Reads that wait until the log is loaded up to a position. */
export interface WaitingReads {
  /**
   * True when it is reached, false when `withinMs` is over. Throws Rejected `overloaded` when too many
   * wait.
   */
  wait(position: number, withinMs: number): Promise<boolean>;
  reached(position: number): void;
  isEmpty(): boolean;
  /** All give up at once. */
  close(): void;
}

const WAITING_MAX = 1_000;

interface Waiter {
  position: number;
  settle(isReached: boolean): void;
}

export function createWaitingReads(): WaitingReads {
  const waiters = new Set<Waiter>();

  function wait(position: number, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isReached: boolean) => {
        clearTimeout(timer);
        waiters.delete(waiter);
        resolve(isReached);
      };
      const timer = setTimeout(() => settle(false), withinMs);
      const waiter = { position, settle };
      waiters.add(waiter);
    });
  }

  return {
    async wait(position, withinMs) {
      if (waiters.size >= WAITING_MAX) throw new Rejected('overloaded', 'Too many reads wait; ask again.');
      return wait(position, withinMs);
    },
    reached(position) {
      for (const waiter of waiters) if (waiter.position <= position) waiter.settle(true);
    },
    isEmpty: () => waiters.size === 0,
    close() {
      for (const waiter of waiters) waiter.settle(false);
    },
  };
}
