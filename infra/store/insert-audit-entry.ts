import type { Pool, PoolClient } from 'pg';

export interface AuditEntryRow {
  environment: string;
  actor: string;
  action: string;
  objectId: string;
  /** JSON. */
  before: string | null;
  after: string | null;
  requestId: string | null;
  createdAt: Date;
}

export async function insertAuditEntry(db: Pool | PoolClient, row: AuditEntryRow): Promise<void> {
  await db.query(
    `INSERT INTO audit_log (environment, actor, action, object_id, before, after, request_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      row.environment,
      row.actor,
      row.action,
      row.objectId,
      row.before,
      row.after,
      row.requestId,
      row.createdAt,
    ],
  );
}
