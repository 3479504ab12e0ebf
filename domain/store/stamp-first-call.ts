import type { Pool } from 'pg';

/** Marks the workspace as used, unless it was marked before. */
export async function stampFirstCall(pool: Pool, workspaceId: string): Promise<void> {
  await pool.query(
    'UPDATE workspaces SET first_api_call_at = now() WHERE id = $1 AND first_api_call_at IS NULL',
    [workspaceId],
  );
}
