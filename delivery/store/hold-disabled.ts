import type { Pool, PoolClient } from 'pg';

type Database = Pool | PoolClient;

export interface Unqueued {
  id: string;
  createdAt: Date;
  /** Its endpoint was deleted. */
  isEnded: boolean;
}

/**
 * Takes from the queue what is for endpoints that are disabled or deleted and is not being tried just now, up
 * to so many of each of them.
 */
export async function unqueueDisabled(db: Database, now: Date, ofEach: number): Promise<Unqueued[]> {
  const { rows } = await db.query<Unqueued>(
    `WITH unwanted AS (
       SELECT queued.delivery_id, e.id IS NULL AS is_ended
         FROM webhook_waiting w LEFT JOIN webhook_endpoints e ON e.id = w.endpoint_id,
              LATERAL (
                SELECT q.delivery_id FROM webhook_queue q
                 WHERE q.endpoint_id = w.endpoint_id AND (q.lease_until IS NULL OR q.lease_until <= $1)
                 ORDER BY q.due_at, q.delivery_id LIMIT $2 FOR UPDATE SKIP LOCKED
              ) AS queued
        WHERE e.status IS DISTINCT FROM 'enabled'
     )
     DELETE FROM webhook_queue q USING unwanted u
      WHERE q.delivery_id = ANY (ARRAY(SELECT delivery_id FROM unwanted)) AND q.delivery_id = u.delivery_id
     RETURNING q.delivery_id AS id, q.delivery_created_at AS "createdAt", u.is_ended AS "isEnded"`,
    [now, ofEach],
  );
  return rows;
}

export async function markUnqueued(db: Database, rows: readonly Unqueued[]): Promise<void> {
  const createdMs = rows.map(({ createdAt }) => createdAt.getTime());
  await db.query(
    `UPDATE webhook_deliveries SET state = CASE WHEN id = ANY ($2) THEN 'failed' ELSE 'held' END
      WHERE id = ANY ($1) AND created_at BETWEEN $3 AND $4`,
    [
      rows.map(({ id }) => id),
      rows.filter(({ isEnded }) => isEnded).map(({ id }) => id),
      new Date(createdMs.reduce((a, b) => Math.min(a, b))),
      new Date(createdMs.reduce((a, b) => Math.max(a, b))),
    ],
  );
}
