/*
 * When a lease ends, for every table of leases, in SQL; by the clock of the database, since the clocks of
 * hosts differ. The clock is read when a statement has its row, not when its transaction began: a statement
 * that waited for a row must not shorten a lease that was renewed meanwhile.
 */

/** The end of a lease that is taken now. `ms` is the parameter with its length in milliseconds. */
export function leaseEnd(ms: string): string {
  return `clock_timestamp() + ${ms} * interval '1 millisecond'`;
}

/** The lease has expired. */
export function hasRunOut(expiresAt: string): string {
  return `${expiresAt} < clock_timestamp()`;
}

/**
 * The lease ends later than one of this length that is taken now: it was written by a clock that was ahead
 * and has been corrected since. A dead owner would hold it until that clock's time comes. Any process that
 * finds such a lease shortens it to {@link leaseEnd}: a live owner renews it in time, and keeps it.
 */
export function isBeyond(expiresAt: string, ms: string): string {
  return `${expiresAt} > ${leaseEnd(ms)} + interval '${SLACK}'`;
}

/** Clocks are also set back by a little, and lengths change with a release. */
const SLACK = '1 second';
