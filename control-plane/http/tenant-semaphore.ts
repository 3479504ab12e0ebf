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
  const lines = createLines(limits.waitMs);

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

/** The waiters of one environment, first come, first served, with whether each is admitted. */
type Line = Set<(isAdmitted: boolean) => void>;

/**
 * Waiters of all environments, round robin: a hundred of one environment delay another one by one slot at
 * most.
 */
function createLines(waitMs: number) {
  /** The one that was admitted last is at the end. */
  const lines = new Map<string, Line>();
  let waiting = 0;

  return {
    waiting: () => waiting,
    waitingOf: (environment: string) => lines.get(environment)?.size ?? 0,

    /** False when it waited too long, or its signal aborted. */
    turn(environment: string, signal?: AbortSignal): Promise<boolean> {
      return new Promise((resolve) => {
        const line: Line = lines.get(environment) ?? new Set();
        const settle = (isAdmitted: boolean) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', leave);
          line.delete(settle);
          if (line.size === 0) lines.delete(environment);
          waiting -= 1;
          resolve(isAdmitted);
        };
        const leave = () => settle(false);
        const timer = setTimeout(leave, waitMs);
        signal?.addEventListener('abort', leave);
        lines.set(environment, line.add(settle));
        waiting += 1;
      });
    },

    admitNext(hasRoom: (environment: string) => boolean, admit: (environment: string) => void): void {
      for (const [environment, line] of lines) {
        const [settle] = line;
        if (!settle || !hasRoom(environment)) continue;
        admit(environment);
        settle(true);
        if (lines.delete(environment)) lines.set(environment, line);
        return;
      }
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
