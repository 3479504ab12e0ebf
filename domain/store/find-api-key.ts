import type pg from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import type { StoredKey } from '../api-key-cache.ts';

/** The key with this hash, in whatever state. Throws Transient. */
export async function findApiKey(pool: pg.Pool, hash: Buffer): Promise<StoredKey | undefined> {
  const { rows } = await pool
    .query<{
      id: string;
      environment: string;
      kind: 'secret' | 'publishable';
      scopes: string[];
      expires_at: Date | null;
      revoked_at: Date | null;
    }>('SELECT id, environment, kind, scopes, expires_at, revoked_at FROM api_keys WHERE hash = $1', [hash])
    .catch(throwTransient);
  const row = rows[0];
  if (!row) return undefined;
  const { id, environment, kind, scopes } = row;
  return {
    id,
    environment,
    kind,
    scopes,
    expiresAtMs: row.expires_at?.getTime(),
    revoked: row.revoked_at !== null,
  };
}
