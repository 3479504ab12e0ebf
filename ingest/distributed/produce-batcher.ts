/**
 * Rounds of several partitions that start in the same turn of the event loop wait for each other before they
 * produce: they share one request, and are together in the next round too. A round that starts alone waits
 * for no other.
 */
export type SetOut = () => Batched;

/** Exactly one of the two is called, once. */
interface Batched {
  /** There is nothing to produce. */
  leaves(): void;
  /** Resolves when all others have come or left, or when that takes too long. */
  comes(): Promise<void>;
}

/** They are sent to one store in one write, and the response comes in a few milliseconds. */
const PATIENCE_MS = 25;

export function createProduceBatcher(patienceMs = PATIENCE_MS): SetOut {
  let group: ReturnType<typeof createGroup> | undefined;
  return () => {
    if (!group) {
      group = createGroup(patienceMs);
      setImmediate(() => {
        group = undefined;
      });
    }
    return group.join();
  };
}

function createGroup(patienceMs: number) {
  let underWay = 0;
  let waiting: Array<() => void> = [];
  let timer: NodeJS.Timeout | undefined;

  function leaves(): void {
    underWay--;
    if (underWay === 0) go();
  }

  function go(): void {
    clearTimeout(timer);
    // mutant: batch-waited-for-once
    timer = undefined;
    for (const one of waiting) one();
    waiting = [];
  }

  function comes(): Promise<void> {
    const together = new Promise<void>((resolve) => waiting.push(resolve));
    timer ??= setTimeout(go, patienceMs);
    leaves();
    return together;
  }

  return {
    join(): Batched {
      underWay++;
      return { leaves, comes };
    },
  };
}
