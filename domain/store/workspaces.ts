import type { PoolClient } from 'pg';
import type { Mode } from '../../schemas/primitives/environment.ts';

export async function insertWorkspace(client: PoolClient, id: string, name: string): Promise<void> {
  await client.query('INSERT INTO workspaces (id, name) VALUES ($1, $2)', [id, name]);
}

export interface EnvironmentRow {
  id: string;
  workspaceId: string;
  mode: Mode;
}

export async function insertEnvironment(client: PoolClient, row: EnvironmentRow): Promise<void> {
  await client.query('INSERT INTO environments (id, workspace_id, mode) VALUES ($1, $2, $3)', [
    row.id,
    row.workspaceId,
    row.mode,
  ]);
}
