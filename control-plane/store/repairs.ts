import type { Pool } from 'pg';

export interface Repairs {
  /**
   * A repair of the warehouse is running or requested, or has failed: an hour may then show too little, and
   * events may be missing.
   */
  isOpen: boolean;
  /** A repair has failed, and no audit since then was clean. */
  hasFailed: boolean;
  /** Changes with every repair that ends, independent of the clock; null before the first. */
  ended: string | null;
}

export async function readRepairs(pool: Pool): Promise<Repairs> {
  const { rows } = await pool.query<Repairs>(
    `WITH repairs AS (
       SELECT id, finished_at, state IN ('asked', 'running') AS is_running,
              state = 'failed' AND NOT EXISTS (
                SELECT FROM audit_runs AS later
                 WHERE later.state = 'done' AND later.finished_at > run.finished_at
                   AND (later.repair OR later.differences = '[]')) AS has_failed
         FROM audit_runs AS run WHERE repair)
     SELECT coalesce(bool_or(is_running OR has_failed), false) AS "isOpen",
            coalesce(bool_or(has_failed), false) AS "hasFailed",
            md5(string_agg(id || ' ' || finished_at, ',' ORDER BY id)) AS ended
       FROM repairs`,
  );
  return rows[0] as Repairs; // an aggregate is one row
}
