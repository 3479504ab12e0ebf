/** Time as a port, so that tests can stop it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  nowMs(): number;
  /** Milliseconds that never go back; for leases and waits, never for timestamps. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
