import type { Pool } from 'pg';

/** What waits, over all environments. */
export interface Backlog {
  /** Deliveries that are still to be sent, now or later. */
  deliveries: number;
  /** Since when the one has been due that has waited longest. Open circuits are left out: they put it off. */
  oldestDueAt: Date | null;
  /** Events whose deliveries are still to be made. */
  unsent: number;
  circuitsOpen: number;
}

export async function readBacklog(db: Pool, now: Date): Promise<Backlog> {
  const { rows } = await db.query<Backlog>(
    `SELECT (SELECT count(*) FROM webhook_queue) AS deliveries,
            (SELECT min(w.due_at) FROM webhook_waiting w JOIN webhook_endpoints e ON e.id = w.endpoint_id
              WHERE w.due_at <= $1 AND e.status = 'enabled' AND e.circuit_until IS NULL) AS "oldestDueAt",
            (SELECT count(*) FROM webhook_events WHERE NOT fanned_out) AS unsent,
            (SELECT count(*) FROM webhook_endpoints
              WHERE circuit_until IS NOT NULL AND status = 'enabled') AS "circuitsOpen"`,
    [now],
  );
  return rows[0] ?? { deliveries: 0, oldestDueAt: null, unsent: 0, circuitsOpen: 0 };
}
