import type { Pool, PoolClient } from 'pg';
import { splitEnvironment } from '../schemas/primitives/environment.ts';
import { newId } from '../schemas/primitives/ids.ts';
import { timestampText } from '../schemas/primitives/timestamp.ts';
import type { ApiKey } from '../schemas/resources/api-keys.ts';
import { type KeyKind, lastFour, newApiKey } from './rules/api-key.ts';
import { hashApiKey } from './secrets.ts';
import { type ApiKeyRow, insertApiKey } from './store/api-keys.ts';

export interface ApiKeySpec {
  environment: string;
  kind: KeyKind;
  scopes: string[];
  name: string | null;
  expiresAt: Date | null;
  /** The id of a key, or `operator`. */
  createdBy: string;
  nowMs: number;
  /** Its text; a new one unless given. */
  key?: string;
}

/** Writes a key. Its text is in the response and nowhere else. */
export async function makeApiKey(
  db: Pool | PoolClient,
  { nowMs, key, ...spec }: ApiKeySpec,
  pepper: Buffer,
): Promise<{ key: string; row: ApiKeyRow }> {
  const text = key ?? newApiKey(spec.kind, splitEnvironment(spec.environment).mode);
  const row = await insertApiKey(db, {
    ...spec,
    id: newId('key'),
    hash: hashApiKey(text, pepper),
    // mutant: whole-key-kept
    last4: lastFour(text),
    createdAt: new Date(nowMs),
  });
  return { key: text, row };
}

/** As responses and the audit log show it. */
export function shownApiKey(row: ApiKeyRow, nowMs: number): ApiKey {
  const { id, kind, name, scopes, last4, createdBy, createdAt, rotatedTo } = row;
  return {
    id,
    kind,
    mode: splitEnvironment(row.environment).mode,
    ...(name === null ? {} : { name }),
    scopes,
    last4,
    status: apiKeyStatus(row, nowMs),
    createdBy,
    createdAt: timestampText(createdAt.getTime()),
    ...time('expiresAt', row.expiresAt),
    ...time('revokedAt', row.revokedAt),
    ...(rotatedTo === null ? {} : { rotatedTo }),
    ...time('lastUsedAt', row.lastUsedAt),
  };
}

export function apiKeyStatus({ revokedAt, expiresAt }: ApiKeyRow, nowMs: number): ApiKey['status'] {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt.getTime() <= nowMs ? 'expired' : 'active';
}

function time<Name extends string>(name: Name, at: Date | null): { [name in Name]?: string } {
  return at === null ? {} : ({ [name]: timestampText(at.getTime()) } as { [name in Name]?: string });
}
