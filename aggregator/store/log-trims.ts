import type { Place } from './leases.ts';
import type { Queryable } from './queryable.ts';

/** How far a log has been given up. */
export interface LogTrim {
  /** Records before it may be deleted. */
  keptFrom: number;
  /** They were committed up to then, milliseconds. */
  throughMs: number;
}

export async function readLogTrim(db: Queryable, { logId, partition }: Place): Promise<LogTrim> {
  const { rows } = await db.query<LogTrim>(
    `SELECT kept_from AS "keptFrom", through_ms AS "throughMs"
     FROM log_trims WHERE log_id = $1 AND partition = $2`,
    [logId, partition],
  );
  return rows[0] ?? { keptFrom: 0, throughMs: 0 };
}

/**
 * From now on no more of the log is deleted: `holder` may need it to restore what it deletes elsewhere. False
 * when the log was held already.
 */
export async function holdLog(db: Queryable, { logId, partition }: Place, holder: string): Promise<boolean> {
  const { rows } = await db.query<{ wasFree: boolean }>(
    `WITH before AS (SELECT held_by FROM log_trims WHERE log_id = $1 AND partition = $2)
     INSERT INTO log_trims AS trims (log_id, partition, held_by) VALUES ($1, $2, $3)
     ON CONFLICT (log_id, partition) DO UPDATE SET held_by = excluded.held_by
     RETURNING (SELECT held_by FROM before) IS NULL AS "wasFree"`,
    [logId, partition, holder],
  );
  return rows[0]?.wasFree ?? true;
}

/** True for any log: a repair that did not finish keeps it. */
export async function isLogHeld(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM log_trims WHERE held_by IS NOT NULL LIMIT 1');
  return rowCount === 1;
}

/** The run that holds it. */
export async function releaseLog(db: Queryable, { logId, partition }: Place): Promise<void> {
  await db.query(
    `UPDATE log_trims SET held_by = NULL
     WHERE log_id = $1 AND partition = $2 AND held_by IS NOT NULL`,
    [logId, partition],
  );
}

/** The log itself has dropped what was before this; what is not settled of it is not recorded. */
export async function recordLogStart(
  db: Queryable,
  { logId, partition }: Place,
  start: number,
): Promise<void> {
  await db.query(
    `INSERT INTO log_trims AS trims (log_id, partition, kept_from)
     SELECT $1, $2, $3::bigint WHERE NOT EXISTS (
       SELECT FROM log_ranges WHERE log_id = $1 AND partition = $2 AND state <> 'settled' AND lo < $3)
     ON CONFLICT (log_id, partition) DO UPDATE SET kept_from = excluded.kept_from
       WHERE trims.kept_from < excluded.kept_from`,
    [logId, partition, start],
  );
}
