import type { WebhookEndpoint } from '../../schemas/resources/webhooks.ts';
import type { Database } from '../request-context.ts';

export interface WebhookEndpointRow {
  id: string;
  url: string;
  events: string[];
  status: WebhookEndpoint['status'];
  createdAt: Date;
}

const COLUMNS = 'id, url, events, status, created_at AS "createdAt"';

/** All of them, newest first, ties by id. */
export async function listEndpoints(db: Database, environment: string): Promise<WebhookEndpointRow[]> {
  const { rows } = await db.query<WebhookEndpointRow>(
    `SELECT ${COLUMNS} FROM webhook_endpoints WHERE environment = $1 ORDER BY created_at DESC, id DESC`,
    [environment],
  );
  return rows;
}

/** Nobody else adds one in this transaction. Returns how many there are. */
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
  { id, url, events, secret, createdAt }: Omit<WebhookEndpointRow, 'status'> & { secret: Buffer },
): Promise<WebhookEndpointRow | undefined> {
  const { rows } = await db.query<WebhookEndpointRow>(
    `INSERT INTO webhook_endpoints (id, environment, url, events, secret, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING ${COLUMNS}`,
    [id, environment, url, events, secret, createdAt],
  );
  return rows[0];
}
