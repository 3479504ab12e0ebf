import type { Pool, PoolClient } from 'pg';
import type { Verdict } from '../dispatch/delivery-verdict.ts';

/**
 * Attempts that are recorded already: the response to their COMMIT, or to a later one, was lost. They are
 * also compared by when they began: the process that lost a lease and the one that took it next make attempts
 * with the same number.
 */
export async function findRecorded(
  db: Pool | PoolClient,
  verdicts: readonly Verdict[],
): Promise<ReadonlySet<Verdict>> {
  const { rows } = await db.query<{ id: string; number: number; startedAt: Date }>(
    `SELECT delivery_id AS id, number, started_at AS "startedAt" FROM webhook_attempts
      WHERE delivery_id = ANY ($1) AND created_at BETWEEN $2 AND $3`,
    [verdicts.map(({ delivery }) => delivery.id), ...createdSpan(verdicts)],
  );
  const nameOf = (id: string, number: number, startedAtMs: number) => `${id} ${number} ${startedAtMs}`;
  const names = new Set(rows.map((row) => nameOf(row.id, row.number, row.startedAt.getTime())));
  return new Set(verdicts.filter((one) => names.has(nameOf(one.delivery.id, one.number, one.startedAtMs))));
}

/**
 * Records the outcomes of attempts in the log of attempts, the deliveries and the queue, all or nothing. A
 * process that was too slow and lost the lease changes nothing of what follows, except that the delivery
 * succeeded. Recording twice has the effect of recording once.
 */
export async function recordAttempts(
  db: Pool | PoolClient,
  owner: string,
  verdicts: readonly Verdict[],
): Promise<void> {
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
          SET attempts = r.number, due_at = r."dueAt", is_hurried = false, owner = NULL, lease_until = NULL
         FROM result r
        WHERE q.delivery_id = ANY ($3) AND q.delivery_id = r.id AND r.state = 'pending'
          AND q.owner = $2 AND q.lease_until = r."leaseUntil"
       RETURNING q.delivery_id
     ), changed AS (
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
      ...createdSpan(verdicts),
    ],
  );
}

/** Of their deliveries: only its partitions are looked into. */
function createdSpan(verdicts: readonly Verdict[]): [first: Date, last: Date] {
  const createdMs = verdicts.map(({ delivery }) => delivery.createdAt.getTime());
  return [new Date(Math.min(...createdMs)), new Date(Math.max(...createdMs))];
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
