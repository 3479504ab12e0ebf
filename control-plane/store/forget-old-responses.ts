import type { Pool } from 'pg';

/** Deletes responses that are too old to be replayed, at most `rowsMax` at a time. Returns how many. */
export async function forgetOldResponses(pool: Pool, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM idempotent_answers WHERE ctid IN (
       SELECT ctid FROM idempotent_answers WHERE created_at < now() - interval '24 hours' LIMIT $1)`,
    [rowsMax],
  );
  return rowCount ?? 0;
}
