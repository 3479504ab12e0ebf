import type { Pool } from 'pg';

/**
 * Whether the warehouse is being repaired, or is about to be, or a repair gave up in the middle: an hour may
 * then say too little, and events may be gone.
 */
export async function isRepairOpen(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM audit_runs AS run
      WHERE repair AND (state IN ('asked', 'running')
        OR state = 'failed' AND EXISTS (SELECT FROM log_trims WHERE held_by = run.id))
      LIMIT 1`,
  );
  return rowCount !== 0;
}
