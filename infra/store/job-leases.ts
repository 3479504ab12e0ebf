import type { Pool, PoolClient } from 'pg';

/**
 * Takes a job that nobody holds or whose owner has run out, and holds on to one's own. Gives the epoch,
 * undefined while another holds it. By the clock of the database: the hosts' may differ.
 */
export async function holdJob(
  db: Pool | PoolClient,
  job: string,
  owner: string,
  leaseMs: number,
): Promise<number | undefined> {
  const { rows } = await db.query<{ epoch: number }>(
    `INSERT INTO job_leases AS held (job, owner, epoch, expires_at)
     VALUES ($1, $2, 1, now() + $3 * interval '1 millisecond')
     ON CONFLICT (job) DO UPDATE
       SET owner = excluded.owner, expires_at = excluded.expires_at,
           epoch = held.epoch + CASE WHEN held.owner = excluded.owner THEN 0 ELSE 1 END
       WHERE held.owner = excluded.owner OR held.expires_at < now()
     RETURNING epoch`,
    [job, owner, leaseMs],
  );
  return rows[0]?.epoch;
}

/** Milliseconds, for one whose network is half open or whose process stands still: far less than a lease. */
const HANGING_MAX = '3000';

/**
 * True while this epoch is the newest; then no other begins before the transaction has ended. Whoever hangs
 * in it is cut off.
 */
export async function shareEpoch(db: Pool | PoolClient, job: string, epoch: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `SELECT set_config('idle_in_transaction_session_timeout', $3, true)
       FROM job_leases WHERE job = $1 AND epoch = $2 FOR SHARE`,
    [job, epoch, HANGING_MAX],
  );
  return rowCount === 1;
}

/** Lets the next owner begin at once. */
export async function endJob(db: Pool | PoolClient, job: string, owner: string): Promise<void> {
  await db.query(
    `UPDATE job_leases SET expires_at = now() - interval '1 millisecond' WHERE job = $1 AND owner = $2`,
    [job, owner],
  );
}
