import type pg from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import type { StoredKey } from '../api-key-cache.ts';

interface KeyRow {
  id: string;
  environment: string;
  kind: 'secret' | 'publishable';
  scopes: string[];
  expires_at: Date | null;
  revoked_at: Date | null;
}

const COLUMNS = 'id, environment, kind, scopes, expires_at, revoked_at';

/** The key with this hash, in whatever state. Throws Transient. */
export function findApiKey(pool: pg.Pool, hash: Buffer): Promise<StoredKey | undefined> {
  return find(pool, `SELECT ${COLUMNS} FROM api_keys WHERE hash = $1`, hash);
}

/** The same by its id, which a signed token has. */
export function findApiKeyById(pool: pg.Pool, id: string): Promise<StoredKey | undefined> {
  return find(pool, `SELECT ${COLUMNS} FROM api_keys WHERE id = $1`, id);
}

async function find(pool: pg.Pool, sql: string, name: Buffer | string): Promise<StoredKey | undefined> {
  const { rows } = await pool.query<KeyRow>(sql, [name]).catch(throwTransient);
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
