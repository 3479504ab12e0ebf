import type { Pool } from 'pg';

export interface ApiKey {
  id: string;
  environment: string;
  kind: 'secret' | 'publishable';
  scopes: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** The key with this hash, in whatever state. */
export async function findApiKey(pool: Pool, hash: Buffer): Promise<ApiKey | undefined> {
  const { rows } = await pool.query<ApiKey>(
    `SELECT id, environment, kind, scopes, expires_at AS "expiresAt", revoked_at AS "revokedAt"
       FROM api_keys WHERE hash = $1`,
    [hash],
  );
  return rows[0];
}
