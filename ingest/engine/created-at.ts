import type { Clock } from '../../infra/ports/clock.ts';

/** The times that are stored. Milliseconds since 1970. */
export interface Stamps {
  /**
   * Of a request. Does not go back with the clock, unless that was set back by more than a minute: what it
   * returned before was wrong then, and true times would be judged by it until the next start.
   */
  createdAtMs(): number;
  /**
   * How many events were created at this time, as `createdAtMs` has just returned it, before these: it orders
   * those of one millisecond.
   */
  arrivalOf(createdAtMs: number, count: number): number;
  /** Of a frame: never goes back, and no event is created later than its frame. Audits cut the log by it. */
  committedAtMs(): number;
}

const AHEAD_MS_MAX = 60_000;

export function createStamps({ nowMs }: Pick<Clock, 'nowMs'>): Stamps {
  let lastMs = 0;
  let latestMs = 0;
  let arrivedMs = 0;
  let arrived = 0;

  function createdAtMs(): number {
    const now = nowMs();
    lastMs = lastMs > now + AHEAD_MS_MAX ? now : Math.max(lastMs, now);
    latestMs = Math.max(latestMs, lastMs);
    return lastMs;
  }

  function arrivalOf(atMs: number, count: number): number {
    if (atMs !== arrivedMs) arrived = 0;
    arrivedMs = atMs;
    arrived += count;
    return arrived - count;
  }

  return {
    createdAtMs,
    arrivalOf,
    committedAtMs: () => Math.max(latestMs, createdAtMs()),
  };
}
