import type { Clock } from '../../infra/ports/clock.ts';

/** Gives each request its createdAt, which never goes back with the clock: audits cut the log by it. */
export function createCreatedAt(clock: Clock): () => number {
  let lastMs = 0;
  return () => {
    lastMs = Math.max(lastMs, clock.nowMs());
    return lastMs;
  };
}
