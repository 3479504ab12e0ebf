/** Events per second, of a counter that only grows while its process runs. */
export interface Reading {
  /** When the response came. */
  atMs: number;
  created: number;
}

/** A shorter window shows one event as many per second. */
export const WINDOW_MIN_MS = 10_000;
/** What was read longer ago says nothing about now. */
export const WINDOW_MAX_MS = 30_000;

/** The readings that a rate is of, with this one as the last. */
export function withReading(readings: readonly Reading[], next: Reading): Reading[] {
  const last = readings.at(-1);
  if (last?.atMs === next.atMs) return [...readings];
  // A counter that fell belongs to a process that started again.
  const before = last && next.created < last.created ? [] : readings;
  return [...before.filter(({ atMs }) => next.atMs - atMs <= WINDOW_MAX_MS), next];
}

/** Undefined until two readings are far enough from each other. */
export function rateOf(readings: readonly Reading[]): number | undefined {
  const [first, last] = [readings[0], readings.at(-1)];
  if (!first || !last || last.atMs - first.atMs < WINDOW_MIN_MS) return undefined;
  return ((last.created - first.created) * 1_000) / (last.atMs - first.atMs);
}
