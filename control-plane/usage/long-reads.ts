import { createTenantSemaphore, type SemaphoreLimits } from '../http/tenant-semaphore.ts';
import type { ReadTime } from './read-time.ts';

/** Runs a long read when its environment's slot is free. Throws Rejected `overloaded` when too many wait. */
export type LongReads = <T>(environment: string, read: () => Promise<T>) => Promise<T>;

/**
 * An embedded warehouse runs one long read at a time, a server four. Its own queue would run further ones in
 * the order of arrival, so this semaphore alternates between environments before that. A read that has to
 * wait longer is rejected: its caller would give up before the response.
 */
const LIMITS: SemaphoreLimits = {
  underWayMax: 4,
  shareMax: 2,
  waitingMax: 120,
  waitingShareMax: 30,
  waitMs: 8_000,
};

/**
 * A long read does not count against its request's time: its own time and its wait for the semaphore are
 * bounded.
 */
export function createReadLong() {
  const longReads = createLongReads();
  return <T>(time: ReadTime, environment: string, read: () => Promise<T>) =>
    time.untimed(() => longReads(environment, read));
}

export type ReadLong = ReturnType<typeof createReadLong>;

export function createLongReads(limits: SemaphoreLimits = LIMITS): LongReads {
  return createTenantSemaphore(limits, 'large reads').run;
}
