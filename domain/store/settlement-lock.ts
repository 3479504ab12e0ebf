import type { Pool, PoolClient } from 'pg';

/** Of Postgres's advisory locks: any number, and the same in every release. 'settle' as bytes. */
export const SETTLEMENT_LOCK = 126_879_429_225_573;

/**
 * Waits for the running settlement; none begins before the transaction has ended. Returns the time from which
 * on nothing was settled, except usage with a future time: never before `now`.
 */
export async function holdSettlement(db: Pool | PoolClient, now: Date): Promise<Date> {
  await db.query('SELECT pg_advisory_xact_lock($1)', [SETTLEMENT_LOCK]);
  const { rows } = await db.query<{ at: Date }>(
    `SELECT greatest($1, date_trunc('milliseconds', clock_timestamp())) AS at`,
    [now],
  );
  return rows[0]?.at ?? now;
}
