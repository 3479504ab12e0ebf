import type { Pool } from 'pg';

/** A delivery that this process has taken, with all that an attempt needs but for its endpoint. */
export interface DueDelivery {
  id: string;
  createdAt: Date;
  environment: string;
  endpointId: string;
  eventId: string;
  /** The envelope, as it is sent. */
  body: string;
  eventCreatedAt: Date;
  /** Made so far. */
  attempts: number;
  leaseUntil: Date;
  /** The circuit of its endpoint is open, and this is the one delivery that tries it by itself. */
  isProbe: boolean;
}

export interface Take {
  now: Date;
  owner: string;
  leaseUntil: Date;
  /** How many of each endpoint that is known here, and of every other. */
  capacities: ReadonlyMap<string, number>;
  otherCapacity: number;
  endpointsMax: number;
  deliveriesMax: number;
}

/**
 * Takes due deliveries under a lease. Each endpoint is taken by itself, so that neither the time nor the
 * choice depends on how much waits for another endpoint. From an open circuit nothing is taken until its
 * time, and then one delivery, which moves that time to the end of the lease; but what a user replayed is
 * taken at once. Deliveries that another process has locked or leased are skipped.
 */
export async function takeDue(db: Pool, take: Take): Promise<DueDelivery[]> {
  const { rows } = await db.query<Omit<DueDelivery, 'leaseUntil'>>(
    `WITH queues AS (
       SELECT e.id, e.circuit_until IS NOT NULL AS is_probe,
              CASE WHEN e.circuit_until IS NULL THEN coalesce(known.capacity, $4) ELSE 1 END AS capacity
         FROM webhook_waiting w JOIN webhook_endpoints e ON e.id = w.endpoint_id
         LEFT JOIN unnest($5::text[], $6::integer[]) AS known (id, capacity) ON known.id = e.id
        WHERE w.due_at <= $1 AND e.status = 'enabled' AND coalesce(e.circuit_until, $1) <= $1
          AND coalesce(known.capacity, $4) > 0
          AND EXISTS (
            SELECT FROM webhook_queue q
             WHERE q.endpoint_id = e.id AND q.due_at <= $1
               AND (q.lease_until IS NULL OR q.lease_until <= $1)
          )
        ORDER BY w.due_at LIMIT $7
     ), due AS (
       SELECT queued.delivery_id FROM queues, LATERAL (
         SELECT q.delivery_id FROM webhook_queue q
          WHERE q.endpoint_id = queues.id AND q.due_at <= $1
            AND (q.lease_until IS NULL OR q.lease_until <= $1)
          ORDER BY q.due_at, q.delivery_id LIMIT queues.capacity FOR UPDATE SKIP LOCKED
       ) AS queued LIMIT $8
     ), paused AS (
       SELECT DISTINCT e.id, coalesce(known.capacity, $4) AS capacity
         FROM webhook_queue q JOIN webhook_endpoints e ON e.id = q.endpoint_id
         LEFT JOIN unnest($5::text[], $6::integer[]) AS known (id, capacity) ON known.id = e.id
        WHERE q.is_hurried AND q.due_at <= $1 AND e.status = 'enabled' AND e.circuit_until > $1 LIMIT $7
     ), hurried AS (
       SELECT queued.delivery_id FROM paused, LATERAL (
         SELECT q.delivery_id FROM webhook_queue q
          WHERE q.endpoint_id = paused.id AND q.is_hurried AND q.due_at <= $1
            AND (q.lease_until IS NULL OR q.lease_until <= $1)
          ORDER BY q.due_at, q.delivery_id LIMIT paused.capacity FOR UPDATE SKIP LOCKED
       ) AS queued LIMIT $8
     ), taken AS (
       UPDATE webhook_queue q SET owner = $2, lease_until = $3
        WHERE q.delivery_id = ANY (ARRAY(SELECT delivery_id FROM due UNION ALL SELECT delivery_id FROM hurried))
       RETURNING q.*
     ), probes AS (
       UPDATE webhook_endpoints SET circuit_until = $3 WHERE id IN (
         SELECT e.id FROM webhook_endpoints e
          WHERE e.circuit_until <= $1 AND e.id IN (SELECT endpoint_id FROM taken)
          FOR NO KEY UPDATE SKIP LOCKED
       )
     )
     SELECT t.delivery_id AS id, t.delivery_created_at AS "createdAt", t.environment,
            t.endpoint_id AS "endpointId", t.event_id AS "eventId", t.attempts, ev.body,
            ev.created_at AS "eventCreatedAt", coalesce(queues.is_probe, false) AS "isProbe"
       FROM taken t LEFT JOIN queues ON queues.id = t.endpoint_id
       JOIN webhook_events ev ON ev.id = t.event_id
      ORDER BY t.due_at, t.delivery_id`,
    [
      take.now,
      take.owner,
      take.leaseUntil,
      take.otherCapacity,
      [...take.capacities.keys()],
      [...take.capacities.values()],
      take.endpointsMax,
      take.deliveriesMax,
    ],
  );
  return rows.map((row) => ({ ...row, leaseUntil: take.leaseUntil }));
}

/** Gives back what was taken and not tried: the next process may take it. */
export async function giveBack(db: Pool, owner: string, ids: string[]): Promise<void> {
  await db.query(
    `UPDATE webhook_queue SET owner = NULL, lease_until = NULL
      WHERE owner = $1 AND delivery_id = ANY ($2)`,
    [owner, ids],
  );
}

/** Everything that an owner has taken. For one that has ended, also in the middle of its attempts. */
export async function giveBackAll(db: Pool, owner: string): Promise<void> {
  await db.query('UPDATE webhook_queue SET owner = NULL, lease_until = NULL WHERE owner = $1', [owner]);
}
