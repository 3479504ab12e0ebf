import type { Pool, PoolClient } from 'pg';
import type { Circuit } from '../dispatch/circuit.ts';

type Database = Pool | PoolClient;

/** Where to send, and by which secrets; sealed. */
export interface EndpointRow {
  id: string;
  environment: string;
  url: string;
  secret: Buffer;
  /** The earlier secret, while it signs as well. */
  previousSecret: Buffer | null;
  /** In a row. */
  failures: number;
  updatedAt: Date;
}

/** As they are now, of all environments; deleted and disabled ones are left out. */
export async function readEndpoints(db: Database, ids: string[], now: Date): Promise<EndpointRow[]> {
  const { rows } = await db.query<EndpointRow>(
    `SELECT id, environment, url, secret, failures, updated_at AS "updatedAt",
            CASE WHEN previous_secret_until > $2 THEN previous_secret END AS "previousSecret"
       FROM webhook_endpoints WHERE id = ANY ($1) AND status = 'enabled'`,
    [ids, now],
  );
  return rows;
}

/** Of endpoints as they were read, those that are no longer so, or are deleted or disabled. */
export async function findChanged(
  db: Database,
  seen: ReadonlyArray<Pick<EndpointRow, 'id' | 'updatedAt'>>,
): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT seen.id FROM unnest($1::text[], $2::timestamptz[]) AS seen (id, updated_at)
      WHERE NOT EXISTS (
        SELECT FROM webhook_endpoints e
         WHERE e.id = seen.id AND e.status = 'enabled'
           AND date_trunc('milliseconds', e.updated_at) = seen.updated_at
      )`,
    [seen.map(({ id }) => id), seen.map(({ updatedAt }) => updatedAt)],
  );
  return rows.map(({ id }) => id);
}

export type CircuitRow = Circuit &
  Pick<EndpointRow, 'id' | 'environment' | 'url' | 'updatedAt'> & {
    events: string[];
  };

/**
 * Those whose circuit may change, locked, in one order for all processes: where an attempt has failed, and
 * where one has succeeded after failures.
 */
export async function lockCircuits(
  db: Database,
  { failed, succeeded }: { failed: string[]; succeeded: string[] },
): Promise<CircuitRow[]> {
  const { rows } = await db.query<Record<keyof CircuitRow, never>>(
    `SELECT id, environment, url, events, failures, circuit_probes AS probes,
            last_status AS "lastStatus", last_error AS "lastError",
            date_trunc('milliseconds', updated_at) AS "updatedAt",
            (extract(epoch FROM failing_since) * 1000)::bigint AS "failingSinceMs",
            (extract(epoch FROM circuit_until) * 1000)::bigint AS "untilMs"
       FROM webhook_endpoints
      WHERE status = 'enabled' AND (id = ANY ($1) OR id = ANY ($2) AND failures > 0)
      ORDER BY id FOR NO KEY UPDATE`,
    [failed, succeeded],
  );
  return rows.map((row) => ({
    ...row,
    failingSinceMs: row.failingSinceMs ?? undefined,
    untilMs: row.untilMs ?? undefined,
    lastStatus: row.lastStatus ?? undefined,
    lastError: row.lastError ?? undefined,
  }));
}

export async function writeCircuit(
  db: Database,
  { id, environment, failures, failingSinceMs, untilMs, probes, lastStatus, lastError }: CircuitRow,
): Promise<void> {
  await db.query(
    `UPDATE webhook_endpoints
        SET failures = $3, failing_since = $4, circuit_until = $5, circuit_probes = $6,
            last_status = $7, last_error = $8
      WHERE environment = $1 AND id = $2`,
    [environment, id, failures, timeOf(failingSinceMs), timeOf(untilMs), probes, lastStatus, lastError],
  );
}

function timeOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

/** `gone`: the receiver wants nothing any more. `failing`: for days, and nothing else. */
export type DisabledReason = 'gone' | 'failing';

export async function disableEndpoint(
  db: Database,
  { environment, id }: Pick<CircuitRow, 'environment' | 'id'>,
  { reason, now }: { reason: DisabledReason; now: Date },
): Promise<void> {
  await db.query(
    `UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = $3, updated_at = $4
      WHERE environment = $1 AND id = $2`,
    [environment, id, reason, now],
  );
}
