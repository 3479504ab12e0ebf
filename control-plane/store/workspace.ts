import type { Database } from '../http/request-context.ts';

export interface WorkspaceRow {
  id: string;
  name: string;
  strictMeters: boolean;
  pastDueGraceDays: number;
  firstApiCallAt: Date | null;
  createdAt: Date;
}

export type WorkspaceSettings = Pick<WorkspaceRow, 'name' | 'strictMeters' | 'pastDueGraceDays'>;

const COLUMNS = `w.id, w.name, w.strict_meters AS "strictMeters", w.past_due_grace_days AS "pastDueGraceDays",
  w.first_api_call_at AS "firstApiCallAt", w.created_at AS "createdAt"`;

/** The workspace of an environment. */
export async function findWorkspace(db: Database, environment: string): Promise<WorkspaceRow | undefined> {
  const { rows } = await db.query<WorkspaceRow>(
    `SELECT ${COLUMNS} FROM workspaces w JOIN environments e ON e.workspace_id = w.id WHERE e.id = $1`,
    [environment],
  );
  return rows[0];
}

/** As {@link findWorkspace}, locked against changes for the rest of the transaction. */
export async function lockWorkspace(db: Database, environment: string): Promise<WorkspaceRow | undefined> {
  const { rows } = await db.query<WorkspaceRow>(
    `SELECT ${COLUMNS} FROM workspaces w JOIN environments e ON e.workspace_id = w.id WHERE e.id = $1
        FOR NO KEY UPDATE OF w`,
    [environment],
  );
  return rows[0];
}

export async function updateWorkspace(
  db: Database,
  id: string,
  { name, strictMeters, pastDueGraceDays }: WorkspaceSettings,
): Promise<WorkspaceRow | undefined> {
  const { rows } = await db.query<WorkspaceRow>(
    `UPDATE workspaces w SET name = $2, strict_meters = $3, past_due_grace_days = $4, updated_at = now()
      WHERE w.id = $1 RETURNING ${COLUMNS}`,
    [id, name, strictMeters, pastDueGraceDays],
  );
  return rows[0];
}
