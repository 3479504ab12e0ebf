import type { NewEventRow } from '../../domain/store/insert-events.ts';
import type { EventType } from '../../schemas/events.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';

/** The envelope of one event; undefined if the environment has none with this id. */
export async function findEvent(db: Database, environment: string, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ body: string }>(
    'SELECT body FROM webhook_events WHERE environment = $1 AND id = $2',
    [environment, id],
  );
  return rows[0]?.body;
}

/** The same of several events, by id. */
export async function findEventsById(
  db: Database,
  environment: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; body: string }>(
    'SELECT id, body FROM webhook_events WHERE environment = $1 AND id = ANY ($2)',
    [environment, ids],
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}

/** From ≤ time of the event < to. */
export interface EventFilter {
  type?: EventType | undefined;
  from: Date;
  to: Date;
}

/**
 * Into the outbox, addressed to no endpoint by itself: a test event did not happen, and is sent only to its
 * endpoint.
 */
export async function insertTestEvent(
  db: Database,
  environment: string,
  { id, type, objectId, body, createdAt }: Omit<NewEventRow, 'environment'> & { createdAt: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO webhook_events (id, environment, type, object_id, body, created_at, fanned_out)
     VALUES ($1, $2, $3, $4, $5, $6, true)`,
    [id, environment, type, objectId, body, createdAt],
  );
}

/** Envelopes, as they are sent; without test events. */
export function listEvents(
  db: Database,
  environment: string,
  query: PageQuery & EventFilter,
): Promise<{ rows: Array<{ body: string }>; total: number }> {
  return readPage(db, eventList(environment, query), query);
}

export function eventList(environment: string, { type, from, to }: EventFilter): List {
  const values: unknown[] = [environment, from, to];
  let where = `environment = $1 AND created_at >= $2 AND created_at < $3 AND object_id NOT LIKE 'we\\_%'`;
  if (type !== undefined) where += ` AND type = $${values.push(type)}`;
  return { columns: 'body', from: 'webhook_events', where, values };
}
