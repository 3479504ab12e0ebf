/** How long an outcome is kept. It is at most twice as old where one process requests it from another. */
const KEPT_MS = 1_000;
/** All that is called has shorter limits of its own: what takes longer hangs. */
const HANGS_MS = 15_000;

interface Keeping {
  keptMs?: number;
  nowMs?: () => number;
}

/**
 * Single-flight: one `make` at a time. All concurrent callers share its outcome, and so do callers within a
 * second of its end. For pages that any client may request and that cost more than a request may cost. A
 * failure is an outcome as well; a call that hangs is left to those that wait for it.
 */
export function shareOutcome<Outcome>(
  make: () => Promise<Outcome>,
  { keptMs = KEPT_MS, nowMs = () => performance.now() }: Keeping = {},
): () => Promise<Outcome> {
  let shared: { outcome: Promise<Outcome>; staleAtMs: number } | undefined;

  function begin(): Promise<Outcome> {
    const begun = { outcome: (async () => make())(), staleAtMs: nowMs() + HANGS_MS };
    const keep = () => {
      begun.staleAtMs = nowMs() + keptMs;
    };
    begun.outcome.then(keep, keep);
    shared = begun;
    return begun.outcome;
  }

  // mutant: readiness-checked-each-time
  return () => (shared && nowMs() < shared.staleAtMs ? shared.outcome : begin());
}
