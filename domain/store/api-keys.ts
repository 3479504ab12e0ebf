import type { Pool, PoolClient } from 'pg';
import { Defect } from '../../schemas/failures.ts';
import type { KeyKind } from '../rules/api-key.ts';

export interface ApiKeyRow {
  id: string;
  environment: string;
  kind: KeyKind;
  name: string | null;
  scopes: string[];
  last4: string;
  /** The id of a key, or `operator`. */
  createdBy: string;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** The id of its successor. */
  rotatedTo: string | null;
  lastUsedAt: Date | null;
}

export const API_KEY_COLUMNS = `id, environment, kind, name, scopes, last4, created_by AS "createdBy",
  created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt", rotated_to AS "rotatedTo",
  last_used_at AS "lastUsedAt"`;

export type NewApiKeyRow = Omit<ApiKeyRow, 'revokedAt' | 'rotatedTo' | 'lastUsedAt'> & { hash: Buffer };

export async function insertApiKey(db: PoolClient | Pool, row: NewApiKeyRow): Promise<ApiKeyRow> {
  const { rows } = await db.query<ApiKeyRow>(
    `INSERT INTO api_keys (id, environment, kind, hash, name, scopes, last4, created_by, created_at,
                           expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     RETURNING ${API_KEY_COLUMNS}`,
    [
      row.id,
      row.environment,
      row.kind,
      row.hash,
      row.name,
      row.scopes,
      row.last4,
      row.createdBy,
      row.createdAt,
      row.expiresAt,
    ],
  );
  const inserted = rows[0];
  if (!inserted) throw new Defect('a key that was inserted is missing');
  return inserted;
}

/** What may still change of a key. */
export interface KeyEnd {
  expiresAt: Date | null;
  revokedAt: Date | null;
  rotatedTo: string | null;
}

export async function endApiKey(
  db: PoolClient | Pool,
  { environment, id }: Pick<ApiKeyRow, 'environment' | 'id'>,
  end: KeyEnd,
): Promise<ApiKeyRow | undefined> {
  const { rows } = await db.query<ApiKeyRow>(
    `UPDATE api_keys SET expires_at = $3, revoked_at = $4, rotated_to = $5
      WHERE environment = $1 AND id = $2 RETURNING ${API_KEY_COLUMNS}`,
    [environment, id, end.expiresAt, end.revokedAt, end.rotatedTo],
  );
  return rows[0];
}
