import type { Pool, PoolClient } from 'pg';
import { API_KEY_COLUMNS, type ApiKeyRow } from './api-keys.ts';

/** Statements of the operator, across all workspaces. No API request uses them. */
export interface WorkspaceListRow {
  id: string;
  name: string;
  createdAt: Date;
  firstApiCallAt: Date | null;
}

export async function listWorkspaces(db: Pool): Promise<WorkspaceListRow[]> {
  const { rows } = await db.query<WorkspaceListRow>(
    `SELECT id, name, created_at AS "createdAt", first_api_call_at AS "firstApiCallAt"
       FROM workspaces ORDER BY created_at, id`,
  );
  return rows;
}

export async function workspaceExists(db: Pool | PoolClient, id: string): Promise<boolean> {
  const { rows } = await db.query('SELECT FROM workspaces WHERE id = $1', [id]);
  return rows.length > 0;
}

/** Of both modes, newest first. */
export async function listWorkspaceKeys(db: Pool, workspaceId: string): Promise<ApiKeyRow[]> {
  const { rows } = await db.query<ApiKeyRow>(
    `SELECT ${API_KEY_COLUMNS} FROM api_keys
      WHERE environment IN (SELECT e.id FROM environments e WHERE e.workspace_id = $1)
      ORDER BY created_at DESC, id DESC`,
    [workspaceId],
  );
  return rows;
}

/** By id or by the hash of its text; locked for the rest of the transaction. */
export async function lockAnyKey(
  client: PoolClient,
  { id, hash }: { id: string; hash: Buffer },
): Promise<ApiKeyRow | undefined> {
  const { rows } = await client.query<ApiKeyRow>(
    `SELECT ${API_KEY_COLUMNS} FROM api_keys WHERE id = $1 OR hash = $2 FOR NO KEY UPDATE`,
    [id, hash],
  );
  return rows[0];
}
