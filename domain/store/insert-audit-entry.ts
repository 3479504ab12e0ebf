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

/** The same for many, in one statement. */
export async function insertAuditEntries(
  db: Pool | PoolClient,
  rows: readonly AuditEntryRow[],
): Promise<void> {
  await db.query(
    `INSERT INTO audit_log (environment, actor, action, object_id, before, after, request_id, created_at)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $6::jsonb[],
                          $7::text[], $8::timestamptz[])`,
    [
      rows.map(({ environment }) => environment),
      rows.map(({ actor }) => actor),
      rows.map(({ action }) => action),
      rows.map(({ objectId }) => objectId),
      rows.map(({ before }) => before),
      rows.map(({ after }) => after),
      rows.map(({ requestId }) => requestId),
      rows.map(({ createdAt }) => createdAt),
    ],
  );
}
