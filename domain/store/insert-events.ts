import type { Pool, PoolClient } from 'pg';
import type { EventType } from '../../schemas/events.ts';

export interface NewEventRow {
  id: string;
  environment: string;
  type: EventType;
  /** Of what it reports. */
  objectId: string;
  /** The envelope, as it is sent. */
  body: string;
}

/** Into the outbox, in the transaction of what they report. */
export async function insertEvents(
  db: Pool | PoolClient,
  { createdAt, rows }: { createdAt: Date; rows: readonly NewEventRow[] },
): Promise<void> {
  await db.query(
    `INSERT INTO webhook_events (id, environment, type, object_id, body, created_at)
     SELECT new.id, new.environment, new.type, new.object_id, new.body, $1
       FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
         AS new (id, environment, type, object_id, body)`,
    [
      createdAt,
      rows.map(({ id }) => id),
      rows.map(({ environment }) => environment),
      rows.map(({ type }) => type),
      rows.map(({ objectId }) => objectId),
      rows.map(({ body }) => body),
    ],
  );
}
