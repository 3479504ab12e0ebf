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

const COLUMNS = `d.id, d.replayed_as AS "replayedAs", d.endpoint_id AS "endpointId", d.event_id AS "eventId", d.state AS status,
  d.attempts AS "attemptsMade", d.last_status AS "lastStatus", d.last_error AS "lastError",
  d.last_attempt_at AS "lastAttemptAt", d.created_at AS "createdAt",
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

/** A delivery to create. */
export interface NewDelivery {
  id: string;
  eventId: string;
}

interface DueDeliveries {
  endpointId: string;
  /** In whole milliseconds, since attempts are found by the same time. */
  createdAt: Date;
  /** Their first attempt does not wait for an open circuit. */
  isHurried: boolean;
  rows: NewDelivery[];
}

/** They are due at once. */
export async function insertDueDeliveries(
  db: Database,
  environment: string,
  { endpointId, createdAt, isHurried, rows }: DueDeliveries,
): Promise<void> {
  await db.query(
    `WITH new AS (
       INSERT INTO webhook_deliveries (id, environment, endpoint_id, event_id, event_type, state, created_at)
       SELECT new.id, $1, $2, new.event_id, e.type, 'pending', $3
         FROM unnest($4::text[], $5::text[]) AS new (id, event_id), ${eventOf('new.event_id')}
       RETURNING *
     )
     INSERT INTO webhook_queue (delivery_id, delivery_created_at, environment, endpoint_id, event_id, due_at,
                                is_hurried)
     SELECT id, created_at, environment, endpoint_id, event_id, created_at, $6 FROM new`,
    [
      environment,
      endpointId,
      createdAt,
      rows.map(({ id }) => id),
      rows.map(({ eventId }) => eventId),
      isHurried,
    ],
  );
}

/** Names the new delivery of each event in those that failed or are held, of an endpoint and since a time. */
export async function markReplayed(
  db: Database,
  environment: string,
  { endpointId, since, rows }: { endpointId: string; since: Date; rows: NewDelivery[] },
): Promise<void> {
  await db.query(
    `UPDATE webhook_deliveries d SET replayed_as = new.id
       FROM unnest($4::text[], $5::text[]) AS new (id, event_id)
      WHERE d.environment = $1 AND d.endpoint_id = $2 AND d.created_at >= $3
        AND d.event_id = new.event_id AND d.state IN ('failed', 'held')`,
    [environment, endpointId, since, rows.map(({ id }) => id), rows.map(({ eventId }) => eventId)],
  );
}

export interface ReplayFilter {
  endpointId: string;
  /** from ≤ time of the event < to. */
  from: Date;
  to: Date;
  /** Only events without a successful delivery. */
  onlyFailed: boolean;
  limit: number;
}

/**
 * The event with this id as `e`, read by its id alone: with its time or environment in the condition,
 * Postgres read every event of the span or the environment for each row where it had few statistics (10,000
 * took longer than a statement may). So the caller compares `e.environment` itself.
 */
const eventOf = (id: string) => `LATERAL (
  SELECT environment, created_at, object_id, type FROM webhook_events WHERE id = ${id} OFFSET 0) AS e`;

export interface ReplayableEvent {
  id: string;
  createdAt: Date;
}

/** A delivery is made after its event; by the clock of another host it may be some time before. */
export const REPLAY_MARGIN_MS = 3_600_000;

/** Events addressed to the endpoint, oldest first, without tests and those that are on their way. */
export async function findReplayable(
  db: Database,
  environment: string,
  { endpointId, from, to, onlyFailed, limit }: ReplayFilter,
): Promise<ReplayableEvent[]> {
  const { rows } = await db.query<ReplayableEvent>(
    `SELECT addressed.id, e.created_at AS "createdAt"
       FROM (SELECT event_id AS id FROM webhook_deliveries
              WHERE environment = $1 AND endpoint_id = $2
                AND created_at >= $7
              GROUP BY event_id
             HAVING NOT bool_or(state = 'pending' OR $5 AND state = 'succeeded')) AS addressed,
            ${eventOf('addressed.id')}
      WHERE e.environment = $1 AND e.created_at >= $3 AND e.created_at < $4 AND e.object_id <> $2
      ORDER BY e.created_at, addressed.id LIMIT $6`,
    [environment, endpointId, from, to, onlyFailed, limit, new Date(from.getTime() - REPLAY_MARGIN_MS)],
  );
  return rows;
}

/**
 * Makes a delivery that waits for its next attempt due at once, also while a circuit is open; not one whose
 * attempt is running.
 */
export async function hurryDelivery(
  db: Database,
  environment: string,
  { endpointId, eventId, now }: Pick<WebhookDeliveryRow, 'endpointId' | 'eventId'> & { now: Date },
): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(
    `UPDATE webhook_queue
        SET due_at = CASE WHEN lease_until > $4 THEN due_at ELSE LEAST(due_at, $4) END,
            is_hurried = CASE WHEN lease_until > $4 THEN is_hurried ELSE true END
      WHERE environment = $1 AND endpoint_id = $2 AND event_id = $3 RETURNING delivery_id AS id`,
    [environment, endpointId, eventId, now],
  );
  return rows[0]?.id;
}

/**
 * The same for the deliveries of an endpoint whose events are in a time range, oldest first. Returns their
 * events' times.
 */
export async function hurryDeliveries(
  db: Database,
  environment: string,
  { endpointId, from, to, limit, now }: Omit<ReplayFilter, 'onlyFailed'> & { now: Date },
): Promise<Date[]> {
  const { rows } = await db.query<{ createdAt: Date }>(
    `WITH hurried AS (
       UPDATE webhook_queue q SET due_at = $5
         FROM (SELECT w.delivery_id, e.created_at FROM webhook_queue w, ${eventOf('w.event_id')}
                WHERE w.environment = $1 AND w.endpoint_id = $2 AND w.due_at > $5
                  AND (w.lease_until IS NULL OR w.lease_until <= $5)
                  AND e.environment = $1 AND e.created_at >= $3 AND e.created_at < $4
                ORDER BY e.created_at, w.delivery_id LIMIT $6) AS due
        WHERE q.environment = $1 AND q.delivery_id = due.delivery_id
          AND (q.lease_until IS NULL OR q.lease_until <= $5)
       RETURNING due.created_at
     )
     SELECT created_at AS "createdAt" FROM hurried ORDER BY created_at`,
    [environment, endpointId, from, to, now, limit],
  );
  return rows.map(({ createdAt }) => createdAt);
}
