import type { EventType } from '../../schemas/events.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type {
  DeliveryFilter as StatusFilter,
  WebhookAttempt,
  WebhookDelivery,
} from '../../schemas/resources/webhook-deliveries.ts';
import type { Database } from '../http/request-context.ts';
import { type List, listOf, readPage } from './read-page.ts';

export interface WebhookDeliveryRow {
  id: string;
  endpointId: string;
  eventId: string;
  eventType: EventType;
  status: WebhookDelivery['status'];
  attemptsMade: number;
  lastStatus: number | null;
  lastError: NonNullable<WebhookDelivery['lastError']> | null;
  lastAttemptAt: Date | null;
  nextAttemptAt: Date | null;
  /** The delivery that a replay made of it. */
  replayedAs: string | null;
  createdAt: Date;
}

const COLUMNS = `d.id, d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.state AS status,
  d.attempts AS "attemptsMade", d.last_status AS "lastStatus", d.last_error AS "lastError",
  d.last_attempt_at AS "lastAttemptAt", d.created_at AS "createdAt", d.replayed_as AS "replayedAs",
  coalesce(d.event_type, (SELECT e.type FROM webhook_events e
    WHERE e.environment = d.environment AND e.id = d.event_id)) AS "eventType",
  (SELECT q.due_at FROM webhook_queue q
    WHERE q.environment = d.environment AND q.delivery_id = d.id) AS "nextAttemptAt"`;

export interface DeliveryFilter {
  endpointId: string;
  status?: StatusFilter | undefined;
}

export function listDeliveries(
  db: Database,
  environment: string,
  { endpointId, status, ...page }: DeliveryFilter & PageQuery,
): Promise<{ rows: WebhookDeliveryRow[]; total: number }> {
  return readPage(db, listOf(deliveryList(environment, { status }), 'd.endpoint_id', endpointId), page);
}

export function deliveryList(environment: string, { status }: Pick<DeliveryFilter, 'status'>): List {
  const values: unknown[] = [environment];
  let where = 'd.environment = $1';
  if (status !== undefined) where += ` AND ${CONDITIONS[status]}`;
  return { columns: COLUMNS, from: 'webhook_deliveries d', where, values };
}

/** Without parameters, so that the index of what is not delivered is used. */
const CONDITIONS: Record<StatusFilter, string> = {
  pending: `d.state = 'pending'`,
  succeeded: `d.state = 'succeeded'`,
  failed: `d.state = 'failed'`,
  held: `d.state = 'held'`,
  undelivered: `d.state <> 'succeeded' AND d.replayed_as IS NULL`,
  retrying: `d.state = 'pending' AND d.attempts > 0`,
};

/** Left out: of all endpoints, all states, all types. */
export interface DeliveriesFilter {
  endpointId: string | undefined;
  status: StatusFilter | undefined;
  eventType: EventType | undefined;
  /** from ≤ time of the delivery < to. */
  from: Date;
  to: Date;
  /** The last delivery of the previous page. */
  after: Pick<WebhookDeliveryRow, 'createdAt' | 'id'> | undefined;
  limit: number;
}

/**
 * Newest first, ties by id. Each filter has an index in this order, but for successful deliveries: they
 * are most of them.
 */
export async function listAllDeliveries(
  db: Database,
  environment: string,
  { endpointId, status, eventType, from, to, after, limit }: DeliveriesFilter,
): Promise<WebhookDeliveryRow[]> {
  const values: unknown[] = [environment, from, to, limit];
  const given = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['d.environment = $1', 'd.created_at >= $2', 'd.created_at < $3'];
  if (endpointId !== undefined) conditions.push(`d.endpoint_id = ${given(endpointId)}`);
  if (status !== undefined) conditions.push(CONDITIONS[status]);
  if (eventType !== undefined) conditions.push(`d.event_type = ${given(eventType)}`);
  if (after) conditions.push(`(d.created_at, d.id) < (${given(after.createdAt)}, ${given(after.id)})`);
  const { rows } = await db.query<WebhookDeliveryRow>(
    `SELECT ${COLUMNS} FROM webhook_deliveries d WHERE ${conditions.join(' AND ')}
      ORDER BY d.created_at DESC, d.id DESC LIMIT $4`,
    values,
  );
  return rows;
}

export async function findDelivery(
  db: Database,
  environment: string,
  id: string,
): Promise<WebhookDeliveryRow | undefined> {
  const { rows } = await db.query<WebhookDeliveryRow>(
    `SELECT ${COLUMNS} FROM webhook_deliveries d WHERE d.environment = $1 AND d.id = $2`,
    [environment, id],
  );
  return rows[0];
}

export interface WebhookAttemptRow {
  number: number;
  startedAt: Date;
  durationMs: number;
  status: number | null;
  errorCode: NonNullable<WebhookAttempt['errorCode']> | null;
  requestHead: string;
  responseHead: string | null;
  responseBody: string | null;
}

const ATTEMPT_COLUMNS = `number, started_at AS "startedAt", duration_ms AS "durationMs", status,
  error_code AS "errorCode", request_head AS "requestHead", response_head AS "responseHead",
  response_body AS "responseBody"`;

/** In their order. There are at most ten. */
export async function listAttempts(
  db: Database,
  environment: string,
  { id, createdAt }: Pick<WebhookDeliveryRow, 'id' | 'createdAt'>,
): Promise<WebhookAttemptRow[]> {
  const { rows } = await db.query<WebhookAttemptRow>(
    `SELECT ${ATTEMPT_COLUMNS}
       FROM webhook_attempts WHERE environment = $1 AND delivery_id = $2 AND created_at = $3 ORDER BY number`,
    [environment, id, createdAt],
  );
  return rows;
}

/** The same of several deliveries. */
export async function listAttemptsOf(
  db: Database,
  environment: string,
  deliveries: ReadonlyArray<Pick<WebhookDeliveryRow, 'id' | 'createdAt'>>,
): Promise<Array<WebhookAttemptRow & { deliveryId: string }>> {
  const { rows } = await db.query<WebhookAttemptRow & { deliveryId: string }>(
    `SELECT delivery_id AS "deliveryId", ${ATTEMPT_COLUMNS}
       FROM webhook_attempts
      WHERE environment = $1 AND (delivery_id, created_at) IN (
            SELECT * FROM unnest($2::text[], $3::timestamptz[]))
      ORDER BY delivery_id, number`,
    [environment, deliveries.map(({ id }) => id), deliveries.map(({ createdAt }) => createdAt)],
  );
  return rows;
}
