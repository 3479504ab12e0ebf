/** How long an outcome is kept. It is at most twice as old where one process requests it from another. */
const KEPT_MS = 1_000;

interface Keeping {
  keptMs?: number;
  nowMs?: () => number;
}

/**
 * Single-flight: one `make` at a time. All concurrent callers share its outcome, and so do callers within a
 * second of its end. For pages that any client may request and that cost more than a request may cost. A
 * failure is an outcome as well.
 */
export function shareOutcome<Outcome>(
  make: () => Promise<Outcome>,
  { keptMs = KEPT_MS, nowMs = () => performance.now() }: Keeping = {},
): () => Promise<Outcome> {
  let shared: Promise<Outcome> | undefined;
  /** Undefined while it is being made. */
  let madeAtMs: number | undefined;

  function begin(): Promise<Outcome> {
    madeAtMs = undefined;
    const over = () => {
      madeAtMs = nowMs();
    };
    const made = make();
    made.then(over, over);
    return made;
  }

  return () => {
    const isStale = madeAtMs !== undefined && nowMs() - madeAtMs >= keptMs;
    if (shared === undefined || isStale) shared = begin();
    return shared;
  };
}
