import type { Pool, PoolClient } from 'pg';
import type { Verdict } from '../delivery-verdict.ts';

/**
 * What came of attempts: into the log of attempts, the deliveries, and the queue, all or nothing. Whoever was
 * too slow and has lost the lease has no say in what follows, but that it succeeded. Twice is as once.
 */
export async function recordAttempts(
  db: Pool | PoolClient,
  owner: string,
  verdicts: readonly Verdict[],
): Promise<void> {
  const createdMs = verdicts.map(({ delivery }) => delivery.createdAt.getTime());
  await db.query(
    `WITH result AS (
       SELECT * FROM json_to_recordset($1::json) AS result (
         id text, environment text, "createdAt" timestamptz, "leaseUntil" timestamptz, number integer,
         "startedAt" timestamptz, "durationMs" integer, status integer, "errorCode" text, "requestHead" text,
         "responseHead" text, "responseBody" text, state text, "dueAt" timestamptz)
     ), ended AS (
       DELETE FROM webhook_queue q USING result r
        WHERE q.delivery_id = ANY ($3) AND q.delivery_id = r.id AND r.state <> 'pending'
          AND (r.state = 'succeeded' OR q.owner = $2 AND q.lease_until = r."leaseUntil")
       RETURNING q.delivery_id
     ), again AS (
       UPDATE webhook_queue q
          SET attempts = r.number, due_at = r."dueAt", owner = NULL, lease_until = NULL
         FROM result r
        WHERE q.delivery_id = ANY ($3) AND q.delivery_id = r.id AND r.state = 'pending'
          AND q.owner = $2 AND q.lease_until = r."leaseUntil"
       RETURNING q.delivery_id
     ), told AS (
       UPDATE webhook_deliveries d
          SET state = r.state, attempts = GREATEST(d.attempts, r.number), last_status = r.status,
              last_error = r."errorCode", last_attempt_at = r."startedAt"
         FROM result r
        WHERE d.id = ANY ($3) AND d.created_at BETWEEN $4 AND $5 AND d.id = r.id
          AND (r.state = 'succeeded'
               OR d.id IN (SELECT delivery_id FROM ended UNION ALL SELECT delivery_id FROM again))
     )
     INSERT INTO webhook_attempts (delivery_id, number, environment, created_at, started_at, duration_ms,
                                   status, error_code, request_head, response_head, response_body)
     SELECT id, number, environment, "createdAt", "startedAt", "durationMs",
            status, "errorCode", "requestHead", "responseHead", "responseBody" FROM result
     ON CONFLICT DO NOTHING`,
    [
      JSON.stringify(verdicts.map(rowOf)),
      owner,
      verdicts.map(({ delivery }) => delivery.id),
      new Date(Math.min(...createdMs)),
      new Date(Math.max(...createdMs)),
    ],
  );
}

function rowOf({ delivery, attempt, number, startedAtMs, state, dueAtMs }: Verdict): object {
  const { id, environment, createdAt, leaseUntil } = delivery;
  const { status, errorCode, durationMs, requestHead, responseHead, responseBody } = attempt;
  return {
    id,
    environment,
    createdAt,
    leaseUntil,
    number,
    startedAt: new Date(startedAtMs),
    durationMs,
    status,
    errorCode,
    requestHead,
    responseHead,
    responseBody,
    state,
    dueAt: dueAtMs === undefined ? undefined : new Date(dueAtMs),
  };
}
