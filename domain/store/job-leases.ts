import type { Pool, PoolClient } from 'pg';
import { hasRunOut, isBeyond, leaseEnd } from './lease-terms.ts';

/**
 * Takes a job whose lease is free or expired, or renews this owner's lease. Returns the epoch; undefined
 * while another owner holds it.
 */
export async function holdJob(
  db: Pool | PoolClient,
  job: string,
  owner: string,
  leaseMs: number,
): Promise<number | undefined> {
  const { rows } = await db.query<{ owner: string; epoch: number }>(
    `INSERT INTO job_leases AS held (job, owner, epoch, expires_at)
     VALUES ($1, $2, 1, ${ENDS})
     ON CONFLICT (job) DO UPDATE
       SET expires_at = ${ENDS},
           owner = CASE WHEN ${RAN_OUT} THEN excluded.owner ELSE held.owner END,
           epoch = held.epoch + CASE WHEN ${RAN_OUT} AND held.owner <> excluded.owner THEN 1 ELSE 0 END
       WHERE held.owner = excluded.owner OR ${RAN_OUT} OR ${isBeyond('held.expires_at', '$3')}
     RETURNING owner, epoch`,
    [job, owner, leaseMs],
  );
  return rows[0]?.owner === owner ? rows[0].epoch : undefined;
}

const ENDS = leaseEnd('$3');
const RAN_OUT = hasRunOut('held.expires_at');

/** A look, or a piece of one, has come to its end. */
export async function countJobRun(db: Pool | PoolClient, job: string, epoch: number): Promise<void> {
  await db.query('UPDATE job_leases SET runs = runs + 1 WHERE job = $1 AND epoch = $2', [job, epoch]);
}

/** For every job that ever ran: how many looks, or pieces of one, have finished, in any process. */
export async function readJobRuns(db: Pool | PoolClient): Promise<Map<string, number>> {
  const { rows } = await db.query<{ job: string; runs: number }>('SELECT job, runs FROM job_leases');
  return new Map(rows.map(({ job, runs }) => [job, runs]));
}

/** Milliseconds, for an owner with a half-open network or a hanging process: far less than a lease. */
const HANGING_MAX = '3000';

/**
 * True while this epoch is the newest; then no other begins before the transaction has ended. A process that
 * hangs in it is cut off.
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
