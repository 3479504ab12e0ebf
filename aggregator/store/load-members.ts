import type { Queryable } from './queryable.ts';

/** Who shares the partitions of a log just now. */
export interface Sharing {
  /** Living aggregators, this one among them. */
  members: number;
  /** Partitions that somebody holds, by number. */
  held: Array<{ partition: number; owner: string }>;
}

/** Says that `owner` lives, and tells who else does. */
export async function renewMember(
  db: Queryable,
  { logId, owner, livesMs }: { logId: string; owner: string; livesMs: number },
): Promise<Sharing> {
  await db.query(
    `INSERT INTO load_members (log_id, owner, expires_at)
     VALUES ($1, $2, now() + $3 * interval '1 millisecond')
     ON CONFLICT (log_id, owner) DO UPDATE SET expires_at = excluded.expires_at`,
    [logId, owner, livesMs],
  );
  await db.query('DELETE FROM load_members WHERE log_id = $1 AND expires_at < now()', [logId]);
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
