import { createFairShares } from '../../infra/platform/fair-shares.ts';
import { Rejected } from '../../schemas/failures.ts';

/** Reads that wait until the log is loaded up to a position. */
export interface WaitingReads {
  /**
   * True when it is reached, false when the time is over. Throws Rejected `overloaded` when too many wait, or
   * too many of this environment.
   */
  wait(position: number, wait: Wait): Promise<boolean>;
  reached(position: number): void;
  isEmpty(): boolean;
  /** All give up at once. */
  close(): void;
}

export interface Wait {
  environment: string;
  withinMs: number;
}

const WAITING_MAX = 1_000;

interface Waiter {
  position: number;
  settle(isReached: boolean): void;
}

export function createWaitingReads(waitingMax = WAITING_MAX): WaitingReads {
  const waiters = new Set<Waiter>();
  const shares = createFairShares(waitingMax);

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
    async wait(position, { environment, withinMs }) {
      if (!shares.take(environment, 1))
        throw new Rejected('overloaded', 'Too many reads are waiting. Retry the request.');
      const isReached = await wait(position, withinMs);
      shares.give(environment, 1);
      return isReached;
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
