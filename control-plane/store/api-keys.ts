import { API_KEY_COLUMNS, type ApiKeyRow } from '../../domain/store/api-keys.ts';
import type { ApiKey } from '../../schemas/resources/api-keys.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';

export async function findKey(db: Database, environment: string, id: string): Promise<ApiKeyRow | undefined> {
  const { rows } = await db.query<ApiKeyRow>(
    `SELECT ${API_KEY_COLUMNS} FROM api_keys WHERE environment = $1 AND id = $2`,
    [environment, id],
  );
  return rows[0];
}

/** As {@link findKey}, locked against changes for the rest of the transaction. */
export async function lockKey(db: Database, environment: string, id: string): Promise<ApiKeyRow | undefined> {
  const { rows } = await db.query<ApiKeyRow>(
    `SELECT ${API_KEY_COLUMNS} FROM api_keys WHERE environment = $1 AND id = $2 FOR NO KEY UPDATE`,
    [environment, id],
  );
  return rows[0];
}

export interface KeyFilter {
  kind?: ApiKey['kind'] | undefined;
  status?: ApiKey['status'] | undefined;
  /** The time for which the key's status is computed. */
  now: Date;
}

const WITH_STATUS: Record<ApiKey['status'], string> = {
  active: 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)',
  expired: 'revoked_at IS NULL AND expires_at <= $2',
  revoked: 'revoked_at IS NOT NULL AND $2::timestamptz IS NOT NULL',
};

export function listKeys(db: Database, environment: string, query: PageQuery & KeyFilter) {
  return readPage<ApiKeyRow>(db, keyList(environment, query), query);
}

export function keyList(environment: string, { kind, status, now }: KeyFilter): List {
  const values: unknown[] = [environment];
  let where = 'environment = $1';
  if (status !== undefined) {
    values.push(now);
    where += ` AND ${WITH_STATUS[status]}`;
  }
  if (kind !== undefined) where += ` AND kind = $${values.push(kind)}`;
  return { columns: API_KEY_COLUMNS, from: 'api_keys', where, values };
}
