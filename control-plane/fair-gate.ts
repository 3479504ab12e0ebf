import { Rejected } from '../schemas/failures.ts';

/** Work of many environments, so much at a time, and of each no more than its share. */
export interface FairGate {
  /** Waits its turn. Throws Rejected `overloaded` when too many wait, or when it waited too long. */
  run<T>(environment: string, work: () => Promise<T>): Promise<T>;
  /** Throws Rejected `overloaded` when it would have to wait. */
  runAtOnce<T>(environment: string, work: () => Promise<T>): Promise<T>;
}

export interface GateLimits {
  underWayMax: number;
  /** Of these, those of one environment. */
  shareMax: number;
  waitingMax: number;
  waitingShareMax: number;
  waitMs: number;
}

interface Waiter {
  environment: string;
  settle(isAdmitted: boolean): void;
}

export function createFairGate(limits: GateLimits): FairGate {
  const underWay = createTally();
  const waiting = createTally();
  /** First come, first served among those whose environment has room. */
  const line = new Set<Waiter>();

  const hasRoom = (environment: string) =>
    underWay.total() < limits.underWayMax && underWay.of(environment) < limits.shareMax;

  async function through<T>(environment: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      underWay.remove(environment);
      admitNext();
    }
  }

  function admitNext(): void {
    for (const waiter of line) {
      if (!hasRoom(waiter.environment)) continue;
      // Taken for it here: it runs only a turn later.
      underWay.add(waiter.environment);
      waiter.settle(true);
      return;
    }
  }

  function turn(environment: string): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isAdmitted: boolean) => {
        clearTimeout(timer);
        line.delete(waiter);
        waiting.remove(environment);
        resolve(isAdmitted);
      };
      const timer = setTimeout(() => settle(false), limits.waitMs);
      const waiter = { environment, settle };
      line.add(waiter);
      waiting.add(environment);
    });
  }

  return {
    async run(environment, work) {
      if (hasRoom(environment)) underWay.add(environment);
      else {
        const isFull = waiting.total() >= limits.waitingMax;
        if (isFull || waiting.of(environment) >= limits.waitingShareMax) throw overloaded();
        if (!(await turn(environment))) throw overloaded();
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

function overloaded(): Rejected {
  return new Rejected('overloaded', 'Too many reads of entitlements are under way. Ask again in a moment.');
}
