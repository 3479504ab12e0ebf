import { hasRunOut, isBeyond, leaseEnd } from '../../domain/store/lease-terms.ts';
import { SETTLEMENT_LOCK } from '../../domain/store/settlement-lock.ts';
import type { Queryable } from './queryable.ts';
import { waitForLock } from './wait-for-lock.ts';

/** A partition of one log. */
export interface Place {
  /** 32 hexadecimal digits. */
  logId: string;
  partition: number;
}

/**
 * Leases of a distributed log, in addition to those of its partitions. The other processes give up every
 * partition to the owner of the whole log; one process at a time audits it.
 */
export const WHOLE_LOG = -1;
export const AUDIT_OF_LOG = -2;

/** Takes a lease that is free, expired, or this owner's already. Undefined while another owner holds it. */
export async function acquireLease(
  db: Queryable,
  { logId, partition }: Place,
  owner: string,
  leaseMs: number,
): Promise<number | undefined> {
  const free = `(held.owner = excluded.owner OR ${hasRunOut('held.expires_at')})`;
  const { rows } = await db.query<{ owner: string; epoch: number }>(
    `INSERT INTO partition_leases AS held (log_id, partition, owner, epoch, expires_at)
     VALUES ($1, $2, $3, 1, ${ENDS})
     ON CONFLICT (log_id, partition) DO UPDATE
       SET owner = CASE WHEN ${free} THEN excluded.owner ELSE held.owner END,
           epoch = held.epoch + CASE WHEN ${free} THEN 1 ELSE 0 END,
           expires_at = ${ENDS}
       WHERE ${free} OR ${isBeyond('held.expires_at', '$4')}
     RETURNING owner, epoch`,
    [logId, partition, owner, leaseMs],
  );
  return rows[0]?.owner === owner ? rows[0].epoch : undefined;
}

const ENDS = leaseEnd('$4');

/** False when a later epoch has begun. */
export async function renewLease(
  db: Queryable,
  { logId, partition }: Place,
  epoch: number,
  leaseMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE partition_leases SET expires_at = ${ENDS}
     WHERE log_id = $1 AND partition = $2 AND epoch = $3`,
    [logId, partition, epoch, leaseMs],
  );
  return rowCount === 1;
}

/** Lets the next owner begin at once. */
export async function endLease(db: Queryable, { logId, partition }: Place, epoch: number): Promise<void> {
  await db.query(
    `UPDATE partition_leases SET expires_at = now() - interval '1 millisecond'
     WHERE log_id = $1 AND partition = $2 AND epoch = $3`,
    [logId, partition, epoch],
  );
}

/** Milliseconds, of a transaction that waits for the warehouse: longer than its statements may take. */
const HANGING_MAX = '40000';
/** Longer than a settlement may hang. */
const SETTLEMENT_WAIT_MS = 45_000;

/**
 * True while this epoch holds the partition. Then no other epoch begins before the transaction has ended, and
 * no other partition is settled meanwhile: the usage of one customer meter can be in any partition. Throws
 * Transient `settlement_busy` when the others take too long.
 */
export async function shareSettlement(
  db: Queryable,
  { logId, partition }: Place,
  epoch: number,
  waitMaxMs = SETTLEMENT_WAIT_MS,
): Promise<boolean> {
  const rowCount = await waitForLock(
    db,
    [
      `SELECT set_config('idle_in_transaction_session_timeout', $4, true), pg_advisory_xact_lock($5)
       FROM partition_leases WHERE log_id = $1 AND partition = $2 AND epoch = $3 FOR SHARE`,
      [logId, partition, epoch, HANGING_MAX, SETTLEMENT_LOCK],
    ],
    { waitMaxMs, busyCode: 'settlement_busy' },
  );
  return rowCount === 1;
}
