import type { PoolClient } from 'pg';

/** One POST of one environment under one key. */
export interface RequestKey {
  environment: string;
  method: string;
  path: string;
  key: string;
}

export interface KeptAnswer {
  requestHash: Buffer;
  status: number;
  /** Sealed. */
  body: Buffer;
}

/**
 * Takes the lock of this key for the rest of the transaction. A rival is waited for at most `waitMs`, then
 * Postgres raises SQLSTATE 55P03.
 */
export async function lockRequestKey(client: PoolClient, request: RequestKey, waitMs: number): Promise<void> {
  const { environment, method, path, key } = request;
  await client.query(`SELECT set_config('lock_timeout', $1, true)`, [String(waitMs)]);
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
    JSON.stringify(['idempotent', environment, method, path, key]),
  ]);
  await client.query(`SELECT set_config('lock_timeout', '0', true)`);
}

/** The answer that was kept, unless it is older than 24 hours. */
export async function findAnswer(client: PoolClient, request: RequestKey): Promise<KeptAnswer | undefined> {
  const { rows } = await client.query<KeptAnswer>(
    `SELECT request_hash AS "requestHash", status, body FROM idempotent_answers
      WHERE environment = $1 AND method = $2 AND path = $3 AND key = $4
        AND created_at > now() - interval '24 hours'`,
    [request.environment, request.method, request.path, request.key],
  );
  return rows[0];
}

/** Keeps an answer; one that stands there has expired. */
export async function keepAnswer(
  client: PoolClient,
  request: RequestKey,
  { requestHash, status, body }: KeptAnswer,
): Promise<void> {
  await client.query(
    `INSERT INTO idempotent_answers (environment, method, path, key, request_hash, status, body)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (environment, method, path, key) DO UPDATE
       SET request_hash = excluded.request_hash, status = excluded.status, body = excluded.body,
           created_at = now()`,
    [request.environment, request.method, request.path, request.key, requestHash, status, body],
  );
}
