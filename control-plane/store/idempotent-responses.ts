import { DatabaseError, type Pool, type PoolClient } from 'pg';

/** One POST of one environment under one key. */
export interface RequestKey {
  environment: string;
  method: string;
  path: string;
  key: string;
}

export interface KeptResponse {
  requestHash: Buffer;
  status: number;
  /** Sealed. */
  body: Buffer;
}

/** Takes the lock of this key for the rest of the transaction, unless another transaction has it. */
export async function tryRequestKey(client: PoolClient, request: RequestKey): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken',
    [lockName(request)],
  );
  return rows[0]?.taken ?? false;
}

/**
 * As {@link tryRequestKey}, but waits for a rival, at most `waitMs`. After false the transaction has failed.
 */
export async function lockRequestKey(
  client: PoolClient,
  request: RequestKey,
  waitMs: number,
): Promise<boolean> {
  await client.query(`SELECT set_config('lock_timeout', $1, true)`, [String(waitMs)]);
  try {
    await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [lockName(request)]);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
  await client.query(`SELECT set_config('lock_timeout', '0', true)`);
  return true;
}

/** SQLSTATE. */
const LOCK_NOT_AVAILABLE = '55P03';

function lockName({ environment, method, path, key }: RequestKey): string {
  return JSON.stringify(['idempotent', environment, method, path, key]);
}

/** The stored response, unless it is older than 24 hours. */
export async function findResponse(
  client: PoolClient,
  request: RequestKey,
): Promise<KeptResponse | undefined> {
  const { rows } = await client.query<KeptResponse>(
    `SELECT request_hash AS "requestHash", status, body FROM idempotent_answers
      WHERE environment = $1 AND method = $2 AND path = $3 AND key = $4
        AND created_at > now() - interval '24 hours'`,
    [request.environment, request.method, request.path, request.key],
  );
  return rows[0];
}

/** Stores a response; an existing one has expired. */
export async function storeResponse(
  client: PoolClient,
  request: RequestKey,
  { requestHash, status, body }: KeptResponse,
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

/** As {@link tryRequestKey}, of many: for each whether it was taken. */
export async function tryRequestKeys(
  client: PoolClient,
  requests: readonly RequestKey[],
): Promise<boolean[]> {
  const { rows } = await client.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended(name, 0)) AS taken
       FROM unnest($1::text[]) WITH ORDINALITY AS requested (name, at) ORDER BY at`,
    [requests.map(lockName)],
  );
  return requests.map((_, at) => rows[at]?.taken ?? false);
}

/** As {@link findResponse}, of many of one environment, in their order. */
export async function findResponses(
  client: PoolClient,
  requests: readonly RequestKey[],
): Promise<Array<KeptResponse | undefined>> {
  const { rows } = await client.query<KeptResponse & { at: number }>(
    `SELECT at, request_hash AS "requestHash", status, body
       FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS requested (method, path, key, at)
       JOIN idempotent_answers kept USING (method, path, key)
      WHERE kept.environment = $1 AND kept.created_at > now() - interval '24 hours'`,
    [
      requests[0]?.environment,
      requests.map(({ method }) => method),
      requests.map(({ path }) => path),
      requests.map(({ key }) => key),
    ],
  );
  const byPlace = new Map(rows.map((row) => [row.at, row]));
  return requests.map((_, at) => byPlace.get(at + 1));
}

/** Deletes responses that are too old to be replayed, at most `rowsMax` at a time. Returns how many. */
export async function forgetOldResponses(pool: Pool, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM idempotent_answers WHERE ctid IN (
       SELECT ctid FROM idempotent_answers WHERE created_at < now() - interval '24 hours' LIMIT $1)`,
    [rowsMax],
  );
  return rowCount ?? 0;
}
