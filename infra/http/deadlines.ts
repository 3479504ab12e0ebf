/** Something that is given up when it takes too long. */
export interface Breakable {
  breakOff(): void;
}

/**
 * Many waits of the same length without a timer for each: begun in order, so the sweep stops at the first
 * that is not late. A wait ends up to an eighth late.
 */
export interface Deadlines {
  /** Begins the wait, or restarts it. */
  start(one: Breakable): void;
  stop(one: Breakable): void;
  close(): void;
}

export function createDeadlines(timeoutMs: number): Deadlines {
  const since = new Map<Breakable, number>();
  const sweep = setInterval(breakOffLate, timeoutMs / 8);
  sweep.unref();

  function breakOffLate(): void {
    const dueMs = performance.now() - timeoutMs;
    for (const [one, startedMs] of since) {
      if (startedMs > dueMs) break;
      since.delete(one);
      one.breakOff();
    }
  }

  return {
    start: (one) => {
      since.delete(one);
      since.set(one, performance.now());
    },
    stop: (one) => void since.delete(one),
    close: () => clearInterval(sweep),
  };
}
