import type { Pool } from 'pg';

/**
 * Whether the warehouse is being repaired, or is about to be, or a repair has failed and no audit has found
 * everything as it should be since: an hour may then say too little, and events may be gone.
 */
export async function isRepairOpen(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM audit_runs AS run
      WHERE repair AND (state IN ('asked', 'running')
        OR state = 'failed' AND NOT EXISTS (
          SELECT FROM audit_runs AS later
           WHERE later.state = 'done' AND later.finished_at > run.finished_at
             AND (later.repair OR later.differences = '[]')))
      LIMIT 1`,
  );
  return rowCount !== 0;
}
