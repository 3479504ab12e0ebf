import { createTenantSemaphore, type SemaphoreLimits } from '../http/tenant-semaphore.ts';

/** Runs a long read when its environment's turn comes. Throws Rejected `overloaded` when too many wait. */
export type LongReads = <T>(environment: string, read: () => Promise<T>) => Promise<T>;

/**
 * An embedded warehouse does one after the other, a server four at once. More in its line than that would
 * stand there in the order in which they came: environments take turns here before they get into it. One that
 * has to wait longer would be answered after its caller has given up.
 */
const LIMITS: SemaphoreLimits = {
  underWayMax: 4,
  shareMax: 2,
  waitingMax: 120,
  waitingShareMax: 30,
  waitMs: 8_000,
};

export function createLongReads(limits: SemaphoreLimits = LIMITS): LongReads {
  return createTenantSemaphore(limits, 'large reads').run;
}
