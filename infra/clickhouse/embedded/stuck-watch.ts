import { performance } from 'node:perf_hooks';

/** Detects an engine that only a new process can repair. */
export interface StuckWatch {
  /** Does the work, and gives its outcome on. */
  watch<T>(work: () => Promise<T>): Promise<T>;
}

export interface StuckWatchOptions {
  /** How long everything that was tried has to have failed. */
  afterMs: number;
  /** Reported once. */
  onStuck(cause: unknown): void;
  /** A new process would meet it again: not counted. */
  isLasting?: (cause: unknown) => boolean;
  nowMs?: () => number;
}

/** One try that hangs and one that fails are not enough, however long the first took. */
const FAILURES_MIN = 3;

/**
 * After a full disk the embedded engine has been seen to reject every insert long after there was room again
 * (once in 30 full disks), and a statement that never returns holds its connection forever.
 */
export function createStuckWatch(options: StuckWatchOptions): StuckWatch {
  const { afterMs, onStuck, isLasting = () => false, nowMs = now } = options;
  let failingSinceMs = Number.POSITIVE_INFINITY;
  let failures = 0;
  let notified = false;

  function failed(cause: unknown, sinceMs: number): void {
    failures += 1;
    failingSinceMs = Math.min(failingSinceMs, sinceMs);
    if (notified || failures < FAILURES_MIN || nowMs() - failingSinceMs < afterMs) return;
    notified = true;
    onStuck(cause);
  }

  return {
    async watch(work) {
      const sinceMs = nowMs();
      try {
        const outcome = await work();
        failures = 0;
        failingSinceMs = Number.POSITIVE_INFINITY;
        return outcome;
      } catch (error) {
        if (!isLasting(error)) failed(error, sinceMs);
        throw error;
      }
    },
  };
}

function now(): number {
  return performance.now();
}
