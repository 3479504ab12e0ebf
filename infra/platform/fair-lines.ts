/**
 * Waiters of all tenants, round robin: a hundred of one tenant delay another one by one turn at most. How
 * many may wait is for the caller to bound.
 */
export interface FairLines {
  waiting(): number;
  waitingOf(tenant: string): number;
  /** Waits until it is admitted. False when it waited too long, or its signal aborted. */
  turn(tenant: string, signal?: AbortSignal, cost?: number): Promise<boolean>;
  /** Admits the first waiter of the next tenant that has room, if any, and calls `admit` in the same turn. */
  admitNext(hasRoom: (tenant: string) => boolean, admit: (tenant: string) => void): void;
}

/** In a turn of a tenant its waiters are admitted until they cost so much: only one, where each costs 1. */
export function createFairLines(waitMs: number, costPerTurn = 1): FairLines {
  /** The tenant that had its turn last is at the end. */
  const lines = new Map<string, Line>();
  let waiting = 0;

  return {
    waiting: () => waiting,
    waitingOf: (tenant) => lines.get(tenant)?.waiters.size ?? 0,

    turn: (tenant, signal, cost = 1) =>
      new Promise((resolve) => {
        const line: Line = lines.get(tenant) ?? { waiters: new Map(), spent: 0 };
        const settle = (isAdmitted: boolean) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
          line.waiters.delete(settle);
          if (line.waiters.size === 0) lines.delete(tenant);
          waiting -= 1;
          resolve(isAdmitted);
        };
        const leave = () => settle(false);
        const timer = setTimeout(leave, waitMs);
        signal?.addEventListener('abort', leave);
        line.waiters.set(settle, cost);
        lines.set(tenant, line);
        waiting += 1;
      }),

    admitNext(hasRoom, admit) {
      for (const [tenant, line] of lines) {
        const [first] = line.waiters;
        if (!first || !hasRoom(tenant)) continue;
        const [settle, cost] = first;
        admit(tenant);
        settle(true);
        line.spent += cost;
        if (line.spent < costPerTurn) return;
        line.spent = 0;
        // mutant: tenants-served-in-order-of-arrival
        if (lines.delete(tenant)) lines.set(tenant, line);
        return;
      }
    },
  };
}

interface Line {
  /** First come, first served: says whether it is admitted. With what it costs. */
  waiters: Map<(isAdmitted: boolean) => void, number>;
  /** In this turn. */
  spent: number;
}
