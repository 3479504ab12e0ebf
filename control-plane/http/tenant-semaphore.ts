import { createFairLines } from '../../infra/platform/fair-lines.ts';
import { Rejected } from '../../schemas/failures.ts';

/** Runs a limited amount of work of many environments, and of each no more than its share. */
export interface TenantSemaphore {
  /**
   * Waits for a free slot. Throws Rejected `overloaded` when too many wait, or when it waited too long; the
   * reason of the signal when that aborts first.
   */
  run<T>(environment: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Throws Rejected `overloaded` when it would have to wait. */
  runAtOnce<T>(environment: string, work: () => Promise<T>): Promise<T>;
}

export interface SemaphoreLimits {
  underWayMax: number;
  /** The share of one environment of these. */
  shareMax: number;
  waitingMax: number;
  waitingShareMax: number;
  waitMs: number;
}

/** `what` names the running work, for the message of a rejection. */
export function createTenantSemaphore(limits: SemaphoreLimits, what: string): TenantSemaphore {
  const underWay = createTally();
  const lines = createFairLines(limits.waitMs);

  const hasRoom = (environment: string) =>
    underWay.total() < limits.underWayMax && underWay.of(environment) < limits.shareMax;

  async function through<T>(environment: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      underWay.remove(environment);
      // The slot is taken here, since the work runs only a microtask later.
      lines.admitNext(hasRoom, underWay.add);
    }
  }

  const overloaded = () => new Rejected('overloaded', `Too many ${what} are in progress. Retry the request.`);

  return {
    async run(environment, work, signal) {
      signal?.throwIfAborted();
      if (hasRoom(environment)) underWay.add(environment);
      else {
        const { waitingMax, waitingShareMax } = limits;
        if (lines.waiting() >= waitingMax || lines.waitingOf(environment) >= waitingShareMax)
          throw overloaded();
        if (!(await lines.turn(environment, signal))) {
          signal?.throwIfAborted();
          throw overloaded();
        }
      }
      return through(environment, work);
    },
    async runAtOnce(environment, work) {
      if (!hasRoom(environment)) throw overloaded();
      underWay.add(environment);
      return through(environment, work);
    },
  };
}

function createTally() {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    total: () => total,
    of: (name: string) => counts.get(name) ?? 0,
    add(name: string) {
      total += 1;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    remove(name: string) {
      total -= 1;
      const left = (counts.get(name) ?? 0) - 1;
      if (left > 0) counts.set(name, left);
      else counts.delete(name);
    },
  };
}
