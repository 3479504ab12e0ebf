import type { Pool } from 'pg';

export async function ping(pool: Pool): Promise<void> {
  await pool.query('SELECT 1');
}

/** The blockers of this log's partitions, the oldest first. Nothing here loads another log. */
export async function listPartitionAlarms(
  pool: Pool,
  logId: string,
  limit: number,
): Promise<PartitionAlarm[]> {
  const { rows } = await pool.query<PartitionAlarm>(
    `SELECT partition, code, message FROM partition_alarms WHERE log_id = $1
     ORDER BY created_at, partition, code LIMIT $2`,
    [logId, limit],
  );
  return rows;
}

export interface PartitionAlarm {
  partition: number;
  code: string;
  message: string;
}

/** Quarantined lines that are not resolved. */
export async function countQuarantined(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*) FROM quarantine WHERE resolved_at IS NULL',
  );
  return rows[0]?.count ?? 0;
}

export interface AuditOutcome {
  finishedAt: Date;
  /** The open differences: after a repair those that are left. */
  differences: number;
}

/** The last completed audit; undefined when there was none. */
export async function readLastAudit(pool: Pool): Promise<AuditOutcome | undefined> {
  const { rows } = await pool.query<AuditOutcome>(
    `SELECT finished_at AS "finishedAt",
            CASE jsonb_typeof(differences) WHEN 'array' THEN jsonb_array_length(differences) ELSE 0 END
              AS differences
       FROM audit_runs WHERE state = 'done' ORDER BY finished_at DESC LIMIT 1`,
  );
  return rows[0];
}

/** Since when the oldest event has waited for the creation of its deliveries; null: none waits. */
export async function readPendingSince(pool: Pool): Promise<Date | null> {
  const { rows } = await pool.query<{ since: Date | null }>(
    'SELECT min(created_at) AS since FROM webhook_events WHERE NOT fanned_out',
  );
  return rows[0]?.since ?? null;
}
