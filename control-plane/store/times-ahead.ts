import type { Database } from '../http/request-context.ts';

export interface Ahead {
  now: Date;
  /** The latest time that a correct clock could have written by now. */
  latest: Date;
  /** The same for times that are in the future normally: the next attempt of a delivery, up to two days. */
  latestAttempt: Date;
}

/**
 * Resets times that a clock wrote while it was ahead and that something waits for. Each statement resets
 * those of one table to now; what waited for them is done at once, and decided again by the true time.
 */
const STATEMENTS: Record<string, string> = {
  // Customers are notified again as of now: nothing is notified of a time before the last one.
  entitlements_told: `UPDATE entitlements_told SET resolved_at = $1, next_turn = $1 WHERE resolved_at > $2`,
  // The job that was worked on longest ago comes first.
  fanout_jobs: `UPDATE fanout_jobs
       SET worked_at = least(worked_at, $1), asked_at = least(asked_at, $1),
           changed_at = least(changed_at, $1)
     WHERE greatest(worked_at, changed_at) > $2`,
  // The period of a subscription that an operator has corrected since, and the order of the processor's
  // events from now.
  subscriptions: `UPDATE subscriptions
       SET no_roll_before = least(no_roll_before, $1), local_changed_at = least(local_changed_at, $1)
     WHERE no_roll_before > $2 OR local_changed_at > $2`,
  webhook_queue: `UPDATE webhook_queue
       SET due_at = CASE WHEN due_at > $3 THEN $1 ELSE due_at END,
           owner = CASE WHEN lease_until > $2 THEN NULL ELSE owner END,
           lease_until = CASE WHEN lease_until > $2 THEN NULL ELSE lease_until END
     WHERE due_at > $3 OR lease_until > $2`,
  // An endpoint receives only events from after its creation.
  webhook_endpoints: `UPDATE webhook_endpoints
       SET created_at = least(created_at, $1), failing_since = least(failing_since, $1),
           circuit_until = CASE WHEN circuit_until > $2 THEN $1 ELSE circuit_until END
     WHERE created_at > $2 OR failing_since > $2 OR circuit_until > $2`,
  // These times order audits and repairs, so all are moved back by the same amount.
  audit_runs: `UPDATE audit_runs SET asked_at = asked_at - ahead.by, finished_at = finished_at - ahead.by
      FROM (SELECT max(greatest(asked_at, finished_at)) - $1 AS by FROM audit_runs) AS ahead
     WHERE greatest(asked_at, finished_at) > $2`,
  // Open ones last as long as was asked for.
  reservations: `UPDATE reservations
       SET created_at = least(created_at, $1), renewed_at = $1, expires_at = $1 + (expires_at - renewed_at)
     WHERE status = 'held' AND renewed_at > $2`,
  partition_alarms: 'UPDATE partition_alarms SET created_at = $1 WHERE created_at > $2',
  idempotent_answers: 'UPDATE idempotent_answers SET created_at = $1 WHERE created_at > $2',
  api_keys: 'UPDATE api_keys SET last_used_at = $1 WHERE last_used_at > $2',
};

/**
 * Not the time of a host whose clock is behind: a time that is right by the database's clock is not reset.
 */
export async function latestNow(db: Database, now: Date): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>(
    `SELECT greatest($1, date_trunc('milliseconds', clock_timestamp())) AS now`,
    [now],
  );
  return rows[0]?.now ?? now;
}

export const TABLES_WITH_TIMES = Object.keys(STATEMENTS);

/** Of one of {@link TABLES_WITH_TIMES}, in a transaction. Returns how many rows were reset. */
export async function bringBack(
  db: Database,
  table: string,
  { now, latest, latestAttempt }: Ahead,
): Promise<number> {
  const sql = STATEMENTS[table] ?? '';
  const values = [now, latest, latestAttempt].filter((_, at) => sql.includes(`$${at + 1}`));
  // These columns have no index: each table is read completely, every ten minutes.
  await db.query(`SELECT set_config('statement_timeout', $1, true)`, [String(SCAN_MS_MAX)]);
  // The driver's own limit; its type declarations have it for whole connections only.
  const statement = { text: sql, values, query_timeout: SCAN_MS_MAX + SILENCE_MS };
  const { rowCount } = await db.query(statement);
  return rowCount ?? 0;
}

const SCAN_MS_MAX = 120_000;
/** How long the client waits after Postgres should have canceled the statement. */
const SILENCE_MS = 2_000;
