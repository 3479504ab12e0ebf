import type { PoolClient } from 'pg';
import type { Mode } from '../../schemas/environment.ts';
import type { KeyKind } from '../../schemas/rules/api-key.ts';

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

export interface ApiKeyRow {
  id: string;
  environment: string;
  kind: KeyKind;
  hash: Buffer;
  last4: string;
  scopes: string[];
}

export async function insertApiKey(client: PoolClient, row: ApiKeyRow): Promise<void> {
  await client.query(
    `INSERT INTO api_keys (id, environment, kind, hash, last4, scopes)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [row.id, row.environment, row.kind, row.hash, row.last4, row.scopes],
  );
}
