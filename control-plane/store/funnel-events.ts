import type { Pool } from 'pg';
import type { Database } from '../http/request-context.ts';

export interface FunnelEventRow {
  id: string;
  event: 'widget_view' | 'checkout_started';
  sessionId: string;
  planId: string | null;
  createdAt: Date;
}

export async function insertFunnelEvent(
  db: Database,
  environment: string,
  { id, event, sessionId, planId, createdAt }: FunnelEventRow,
): Promise<void> {
  await db.query(
    `INSERT INTO funnel_events (id, environment, event, session_id, plan_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, environment, event, sessionId, planId, createdAt],
  );
}

export interface FunnelSessions {
  viewed: number;
  started: number;
  activated: number;
}

/**
 * Different sessions per stage; a view without a plan counts for every plan. Plans match by id or key. The
 * statement reads all events once: with a search for each session's subscription, Postgres read those of the
 * whole environment for each session where it had few statistics.
 */
export async function countFunnelSessions(
  db: Database,
  environment: string,
  { from, to, planId }: { from: Date; to: Date; planId: string | null },
): Promise<FunnelSessions> {
  const { rows } = await db.query<FunnelSessions>(
    `WITH requested AS (
       SELECT id, key FROM plans WHERE environment = $1 AND (id = $4 OR key = $4)),
     happened AS (
       SELECT event, session_id, created_at FROM funnel_events
        WHERE environment = $1 AND created_at >= $2 AND created_at < $3
          AND ($4::text IS NULL OR plan_id = $4 OR (plan_id IS NULL AND event = 'widget_view')
               OR EXISTS (SELECT FROM requested WHERE plan_id IN (requested.id, requested.key)))),
     sessions AS (
       SELECT bool_or(event = 'widget_view') AS viewed,
              min(created_at) FILTER (WHERE event = 'checkout_started') AS started_at,
              max(created_at) FILTER (WHERE event = 'subscribed') AS subscribed_at
         FROM (SELECT event, session_id, created_at FROM happened
                UNION ALL
               SELECT 'subscribed', metadata ->> 'sessionId', created_at FROM subscriptions
                WHERE environment = $1 AND created_at >= $2 AND created_at < $3
                  AND metadata ? 'sessionId'
                  AND EXISTS (SELECT FROM happened WHERE event = 'checkout_started')
                  AND ($4::text IS NULL OR plan_id IN (SELECT id FROM requested))) AS seen
        GROUP BY session_id)
     SELECT count(*) FILTER (WHERE viewed) AS viewed, count(started_at) AS started,
            count(*) FILTER (WHERE subscribed_at >= started_at) AS activated
       FROM sessions`,
    [environment, from, to, planId],
  );
  return rows[0] ?? { viewed: 0, started: 0, activated: 0 };
}

/** Deletes at most `rowsMax` that are older than 400 days. Returns how many were deleted. */
export async function forgetFunnelEvents(pool: Pool, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM funnel_events WHERE ctid IN (
       SELECT ctid FROM funnel_events WHERE created_at < now() - interval '400 days' LIMIT $1)`,
    [rowsMax],
  );
  return rowCount ?? 0;
}
