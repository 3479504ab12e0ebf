import type { Pool, PoolClient } from 'pg';

type Database = Pool | PoolClient;

/** An event of the outbox, without its payload. */
export interface PendingEvent {
  id: string;
  environment: string;
  type: string;
  createdAt: Date;
}

/** The oldest that were not fanned out; what another process works on is passed over. Locks them. */
export async function lockPending(db: Database, limit: number): Promise<PendingEvent[]> {
  const { rows } = await db.query<PendingEvent>(
    `SELECT id, environment, type, created_at AS "createdAt" FROM webhook_events
      WHERE NOT fanned_out ORDER BY created_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED`,
    [limit],
  );
  return rows;
}

export async function markFannedOut(db: Database, ids: string[]): Promise<void> {
  await db.query('UPDATE webhook_events SET fanned_out = true WHERE id = ANY ($1)', [ids]);
}

/** An endpoint to which an event is to be sent. */
export interface Recipient {
  environment: string;
  eventId: string;
  eventType: string;
  endpointId: string;
  isHeld: boolean;
}

/** Of its environment, having selected its type, and not younger than it; in the order of the events. */
export async function findRecipients(
  db: Database,
  events: PendingEvent[],
  limit: number,
): Promise<Recipient[]> {
  const { rows } = await db.query<Recipient>(
    `SELECT ev.environment, ev.id AS "eventId", ev.type AS "eventType", e.id AS "endpointId",
            e.status = 'disabled' AS "isHeld"
       FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) WITH ORDINALITY
              AS ev (id, environment, type, created_at, place)
       JOIN webhook_endpoints e ON e.environment = ev.environment AND e.events && ARRAY[ev.type, '*']
                               AND e.created_at <= ev.created_at
      ORDER BY ev.place, e.id LIMIT $5`,
    [
      events.map(({ id }) => id),
      events.map(({ environment }) => environment),
      events.map(({ type }) => type),
      events.map(({ createdAt }) => createdAt),
      limit,
    ],
  );
  return rows;
}

export type NewDelivery = Recipient & { id: string };

/** Those that are not held are due at once. */
export async function insertDeliveries(db: Database, now: Date, rows: NewDelivery[]): Promise<void> {
  await db.query(
    `WITH new AS (
       INSERT INTO webhook_deliveries (id, environment, endpoint_id, event_id, event_type, state,
                                       created_at)
       SELECT id, environment, endpoint_id, event_id, event_type,
              CASE WHEN is_held THEN 'held' ELSE 'pending' END, $1
         FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[])
                AS new (id, environment, endpoint_id, event_id, is_held, event_type)
       RETURNING *
     )
     INSERT INTO webhook_queue (delivery_id, delivery_created_at, environment, endpoint_id, event_id, due_at)
     SELECT id, created_at, environment, endpoint_id, event_id, $1 FROM new WHERE state = 'pending'`,
    [
      now,
      rows.map(({ id }) => id),
      rows.map(({ environment }) => environment),
      rows.map(({ endpointId }) => endpointId),
      rows.map(({ eventId }) => eventId),
      rows.map(({ isHeld }) => isHeld),
      rows.map(({ eventType }) => eventType),
    ],
  );
}
