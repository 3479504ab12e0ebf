import { inTime } from '../../infra/platform/circuit-breaker.ts';
import type { Consistency } from '../../schemas/resources/consistency.ts';

/** The time that one read of usage has left, for any store. */
export interface ReadTime {
  /** Whole milliseconds, one at least. */
  leftMs(): number;
  /** For a wait for Postgres. Rejects with Transient once the time is over; the started work continues. */
  within<T>(begun: Promise<T>): Promise<T>;
  /** For work with its own limit: the time that it takes is added to the read's time. */
  untimed<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * For all waits of a read together: separately, a Postgres that hangs costs the 12 s of its connection, and
 * then the warehouse may hang too.
 */
const READ_MS = 5_000;
/** How long a read that names no consistency waits for what was acknowledged before it. */
export const USUAL_WAIT_MS = 1_000;

/** Begins now. */
export function beginReadTime(consistency: Consistency): ReadTime {
  let endsAt = performance.now() + READ_MS + (consistency === undefined ? USUAL_WAIT_MS : 0);
  const leftMs = () => Math.max(1, Math.round(endsAt - performance.now()));
  return {
    leftMs,
    within: (begun) => inTime(begun, leftMs()),
    async untimed(work) {
      const begunAt = performance.now();
      try {
        return await work();
      } finally {
        endsAt += performance.now() - begunAt;
      }
    },
  };
}
