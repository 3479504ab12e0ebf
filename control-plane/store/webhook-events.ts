import type { EventType } from '../../schemas/event-types.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../request-context.ts';
import { readPage } from './read-page.ts';

export interface WebhookEventRow {
  id: string;
  type: EventType;
  /** Of what it reports. */
  objectId: string;
  /** The envelope, as it is sent. */
  body: string;
}

/** Into the outbox, in the transaction of what they report. */
export async function insertEvents(
  db: Database,
  { environment, createdAt, rows }: { environment: string; createdAt: Date; rows: WebhookEventRow[] },
): Promise<void> {
  await db.query(
    `INSERT INTO webhook_events (id, environment, type, object_id, body, created_at)
     SELECT new.id, $1, new.type, new.object_id, new.body, $2
       FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS new (id, type, object_id, body)`,
    [
      environment,
      createdAt,
      rows.map(({ id }) => id),
      rows.map(({ type }) => type),
      rows.map(({ objectId }) => objectId),
      rows.map(({ body }) => body),
    ],
  );
}

/** The envelope of one; undefined where the environment has none of this id. */
export async function findEvent(db: Database, environment: string, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>(
    'SELECT body FROM webhook_events WHERE environment = $1 AND id = $2',
    [environment, id],
  );
  return rows[0]?.body;
}

/** From ≤ time of the event < to. */
export interface EventFilter {
  type?: EventType | undefined;
  from: Date;
  to: Date;
}

/** Envelopes, as they are sent. */
export function listEvents(
  db: Database,
  environment: string,
  { type, from, to, ...page }: PageQuery & EventFilter,
): Promise<{ rows: Array<{ body: string }>; total: number }> {
  const values: unknown[] = [environment, from, to];
  let where = 'environment = $1 AND created_at >= $2 AND created_at < $3';
  if (type !== undefined) where += ` AND type = $${values.push(type)}`;
  return readPage(db, { columns: 'body', from: 'webhook_events', where, values }, page);
}
