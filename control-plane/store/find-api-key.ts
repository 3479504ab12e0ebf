import type { Pool, QueryConfig } from 'pg';

export interface ApiKey {
  id: string;
  environment: string;
  kind: 'secret' | 'publishable';
  scopes: string[];
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** Every request begins with this point read: a Postgres that hangs costs it no more than a strong read. */
const TIMEOUT_MS = 4_000;

/** The key with this hash, in whatever state. */
export async function findApiKey(pool: Pool, hash: Buffer): Promise<ApiKey | undefined> {
  // The driver takes a limit for one statement; its declarations do not know.
  const statement: QueryConfig & { query_timeout: number } = {
    text: `SELECT id, environment, kind, scopes, expires_at AS "expiresAt", revoked_at AS "revokedAt"
             FROM api_keys WHERE hash = $1`,
    values: [hash],
    query_timeout: TIMEOUT_MS,
  };
  const { rows } = await pool.query<ApiKey>(statement);
  return rows[0];
}
