import type { FailingWebhookEndpoint, WebhookEndpoint } from '../../schemas/resources/webhooks.ts';
import type { Database } from '../http/request-context.ts';

export interface WebhookEndpointRow {
  id: string;
  url: string;
  events: string[];
  status: WebhookEndpoint['status'];
  /** For an endpoint that the delivery service disabled. */
  disabledReason: NonNullable<WebhookEndpoint['disabledReason']> | null;
  createdAt: Date;
}

const COLUMNS = `id, url, events, status, disabled_reason AS "disabledReason", created_at AS "createdAt"`;

/** All of them, newest first, ties by id. */
export async function listEndpoints(db: Database, environment: string): Promise<WebhookEndpointRow[]> {
  const { rows } = await db.query<WebhookEndpointRow>(
    `SELECT ${COLUMNS} FROM webhook_endpoints WHERE environment = $1 ORDER BY created_at DESC, id DESC`,
    [environment],
  );
  return rows;
}

export interface FailingEndpointRow extends Pick<WebhookEndpointRow, 'id' | 'url'> {
  failures: number;
  failingSince: Date;
  lastStatus: number | null;
  lastError: NonNullable<FailingWebhookEndpoint['lastError']> | null;
  /** While its circuit is open. */
  pausedUntil: Date | null;
}

/** Those that have failed longest first. */
export async function listFailingEndpoints(db: Database, environment: string): Promise<FailingEndpointRow[]> {
  const { rows } = await db.query<FailingEndpointRow>(
    `SELECT id, url, failures, failing_since AS "failingSince", last_status AS "lastStatus",
            last_error AS "lastError", circuit_until AS "pausedUntil"
       FROM webhook_endpoints
      WHERE environment = $1 AND status = 'enabled' AND failing_since IS NOT NULL
      ORDER BY failing_since, id`,
    [environment],
  );
  return rows;
}

export async function findEndpoint(
  db: Database,
  environment: string,
  id: string,
): Promise<WebhookEndpointRow | undefined> {
  const { rows } = await db.query<WebhookEndpointRow>(
    `SELECT ${COLUMNS} FROM webhook_endpoints WHERE environment = $1 AND id = $2`,
    [environment, id],
  );
  return rows[0];
}

/** Locked against changes in this transaction, including those of the delivery service. */
export async function lockEndpoint(
  db: Database,
  environment: string,
  id: string,
): Promise<WebhookEndpointRow | undefined> {
  const { rows } = await db.query<WebhookEndpointRow>(
    `SELECT ${COLUMNS} FROM webhook_endpoints WHERE environment = $1 AND id = $2 FOR NO KEY UPDATE`,
    [environment, id],
  );
  return rows[0];
}

/** Locked against new endpoints in this transaction. Returns how many there are. */
export async function countEndpointsLocked(db: Database, environment: string): Promise<number> {
  await db.query('SELECT FROM environments WHERE id = $1 FOR NO KEY UPDATE', [environment]);
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*) FROM webhook_endpoints WHERE environment = $1',
    [environment],
  );
  return rows[0]?.count ?? 0;
}

/** `secret` is sealed. */
export async function insertEndpoint(
  db: Database,
  environment: string,
  {
    id,
    url,
    events,
    secret,
    createdAt,
  }: Pick<WebhookEndpointRow, 'id' | 'url' | 'events' | 'createdAt'> & { secret: Buffer },
): Promise<WebhookEndpointRow | undefined> {
  const { rows } = await db.query<WebhookEndpointRow>(
    `INSERT INTO webhook_endpoints (id, environment, url, events, secret, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING ${COLUMNS}`,
    [id, environment, url, events, secret, createdAt],
  );
  return rows[0];
}

export type EndpointFields = Pick<
  WebhookEndpointRow,
  'id' | 'url' | 'events' | 'status' | 'disabledReason'
> & {
  updatedAt: Date;
  /** Resets its failures and closes its circuit breaker. */
  isForgiven: boolean;
};

export async function updateEndpoint(
  db: Database,
  environment: string,
  { id, url, events, status, disabledReason, updatedAt, isForgiven }: EndpointFields,
): Promise<WebhookEndpointRow | undefined> {
  const { rows } = await db.query<WebhookEndpointRow>(
    `UPDATE webhook_endpoints
        SET url = $3, events = $4, status = $5, disabled_reason = $6, updated_at = $7,
            failures = CASE WHEN $8 THEN 0 ELSE failures END,
            failing_since = CASE WHEN NOT $8 THEN failing_since END,
            circuit_until = CASE WHEN NOT $8 THEN circuit_until END,
            circuit_probes = CASE WHEN $8 THEN 0 ELSE circuit_probes END,
            last_status = CASE WHEN NOT $8 THEN last_status END,
            last_error = CASE WHEN NOT $8 THEN last_error END
      WHERE environment = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [environment, id, url, events, status, disabledReason, updatedAt, isForgiven],
  );
  return rows[0];
}

/**
 * `secret` is sealed. The previous secret also signs up to `previousUntil`; one from an earlier rotation does
 * not.
 */
export async function replaceSecret(
  db: Database,
  environment: string,
  row: { id: string; secret: Buffer; previousUntil: Date | null; updatedAt: Date },
): Promise<void> {
  await db.query(
    `UPDATE webhook_endpoints
        SET secret = $3, previous_secret = CASE WHEN $4::timestamptz IS NOT NULL THEN secret END,
            previous_secret_until = $4, updated_at = $5
      WHERE environment = $1 AND id = $2`,
    [environment, row.id, row.secret, row.previousUntil, row.updatedAt],
  );
}

/** Its deliveries stay in the log; the delivery service ends them. */
export async function deleteEndpoint(db: Database, environment: string, id: string): Promise<void> {
  await db.query('DELETE FROM webhook_endpoints WHERE environment = $1 AND id = $2', [environment, id]);
}
