import type { Pool } from 'pg';

export interface Repairs {
  /**
   * The warehouse is being repaired, or is about to be, or a repair has failed and no audit has found
   * everything as it should be since: an hour may then say too little, and events may be gone.
   */
  isOpen: boolean;
  /** Changes with every repair that ends, whatever the clock says; null before the first. */
  ended: string | null;
}

export async function readRepairs(pool: Pool): Promise<Repairs> {
  const { rows } = await pool.query<Repairs>(
    `SELECT EXISTS (SELECT FROM audit_runs AS run
             WHERE repair AND (state IN ('asked', 'running')
               OR state = 'failed' AND NOT EXISTS (
                 SELECT FROM audit_runs AS later
                  WHERE later.state = 'done' AND later.finished_at > run.finished_at
                    AND (later.repair OR later.differences = '[]')))) AS "isOpen",
            (SELECT md5(string_agg(id || ' ' || finished_at, ',' ORDER BY id))
               FROM audit_runs WHERE repair AND finished_at IS NOT NULL) AS ended`,
  );
  return rows[0] as Repairs; // without FROM it is one row
}
