import { CHANNELS } from '../../schemas/stored/channels.ts';
import type { Queryable } from './queryable.ts';

export interface AuditRun {
  id: string;
  repair: boolean;
}

export interface AuditOutcome extends AuditRun {
  state: 'asked' | 'running' | 'done' | 'failed';
  /** Null until it is done. */
  differences: unknown[] | null;
  hours: number | null;
}

/**
 * Requests an audit and wakes the aggregator. A run with this id that failed is repeated. False when it was
 * requested before and has not failed.
 */
export async function requestAuditRun(db: Queryable, { id, repair }: AuditRun): Promise<boolean> {
  const { rowCount } = await db.query(
    `WITH requested AS (INSERT INTO audit_runs AS run (id, repair) VALUES ($1, $2)
       ON CONFLICT (id) DO UPDATE SET state = 'asked' WHERE run.state = 'failed' RETURNING id)
     SELECT pg_notify($3, '') FROM requested`,
    [id, repair, CHANNELS.auditRequested],
  );
  return rowCount === 1;
}

export async function findAuditRun(db: Queryable, id: string): Promise<AuditOutcome | undefined> {
  const { rows } = await db.query<AuditOutcome>(
    'SELECT id, repair, state, differences, hours FROM audit_runs WHERE id = $1',
    [id],
  );
  return rows[0];
}

/** Withdraws a run that no process has begun. False when one has. */
export async function withdrawAuditRun(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query("DELETE FROM audit_runs WHERE id = $1 AND state = 'asked'", [id]);
  return rowCount === 1;
}

/** Whether an audit is requested or was left in the middle. */
export async function isAuditOpen(db: Queryable): Promise<boolean> {
  const { rows } = await db.query("SELECT FROM audit_runs WHERE state IN ('asked', 'running') LIMIT 1");
  return rows.length > 0;
}

/** The run that has waited longest, now running. */
export async function beginAuditRun(db: Queryable): Promise<AuditRun | undefined> {
  const { rows } = await db.query<AuditRun>(
    `UPDATE audit_runs SET state = 'running'
     WHERE id = (SELECT id FROM audit_runs WHERE state = 'asked'
                 ORDER BY asked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
     RETURNING id, repair`,
  );
  return rows[0];
}

/** Runs that a process before left unfinished wait again. */
export async function renewAuditRuns(db: Queryable): Promise<void> {
  await db.query("UPDATE audit_runs SET state = 'asked' WHERE state = 'running'");
}

export async function finishAuditRun(
  db: Queryable,
  id: string,
  { differences, hours }: { differences: unknown[]; hours: number },
): Promise<void> {
  await db.query(
    "UPDATE audit_runs SET state = 'done', differences = $2, hours = $3, finished_at = now() WHERE id = $1",
    [id, JSON.stringify(differences), hours],
  );
}

export async function failAuditRun(db: Queryable, id: string): Promise<void> {
  await db.query("UPDATE audit_runs SET state = 'failed', finished_at = now() WHERE id = $1", [id]);
}

/**
 * Deletes at most `rowsMax` runs that ended so many days ago. Repairs that failed stay: strong reads are
 * rejected until a later repair succeeded, which a person has to request. Returns how many were deleted.
 */
export async function forgetAuditRuns(db: Queryable, keepDays: number, rowsMax: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM audit_runs WHERE ctid IN (
       SELECT ctid FROM audit_runs AS run WHERE finished_at < now() - $1 * interval '1 day'
          AND (NOT repair OR state != 'failed' OR EXISTS (
            SELECT FROM audit_runs AS later
             WHERE later.state = 'done' AND later.finished_at > run.finished_at
               AND (later.repair OR later.differences = '[]')))
       ORDER BY finished_at LIMIT $2)`,
    [keepDays, rowsMax],
  );
  return rowCount ?? 0;
}
