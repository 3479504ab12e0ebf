import { hasRunOut, isBeyond, leaseEnd } from '../../domain/store/lease-terms.ts';
import type { Queryable } from './queryable.ts';

/** The processes that load the partitions of a log at present. */
export interface Sharing {
  /** Living aggregators, this one among them. */
  members: number;
  /** Partitions that are held, by number. */
  held: Array<{ partition: number; owner: string }>;
}

export interface Member {
  logId: string;
  owner: string;
  livesMs: number;
  /** Of a partition's lease. */
  leaseMs: number;
}

/** Records that `owner` is alive, and returns which others are. */
export async function renewMember(
  db: Queryable,
  { logId, owner, livesMs, leaseMs }: Member,
): Promise<Sharing> {
  await db.query(
    `INSERT INTO load_members (log_id, owner, expires_at)
     VALUES ($1, $2, ${leaseEnd('$3')})
     ON CONFLICT (log_id, owner) DO UPDATE SET expires_at = excluded.expires_at`,
    [logId, owner, livesMs],
  );
  await db.query(`DELETE FROM load_members WHERE log_id = $1 AND ${hasRunOut('expires_at')}`, [logId]);
  // The dead of a clock that was ahead would have their part of the partitions, and load none.
  for (const [table, ms] of [
    ['load_members', livesMs],
    ['partition_leases', leaseMs],
  ] as const) {
    const beyond = isBeyond('expires_at', '$2');
    const cut = `UPDATE ${table} SET expires_at = ${leaseEnd('$2')} WHERE log_id = $1 AND ${beyond}`;
    await db.query(cut, [logId, ms]);
  }
  const { rows: members } = await db.query('SELECT FROM load_members WHERE log_id = $1', [logId]);
  const { rows: held } = await db.query<{ partition: number; owner: string }>(
    `SELECT partition, owner FROM partition_leases
     WHERE log_id = $1 AND expires_at > now() ORDER BY partition`,
    [logId],
  );
  return { members: members.length, held };
}

export async function removeMember(db: Queryable, logId: string, owner: string): Promise<void> {
  await db.query('DELETE FROM load_members WHERE log_id = $1 AND owner = $2', [logId, owner]);
}
