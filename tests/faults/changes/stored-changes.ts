import type { Instance } from '../../support/instance.ts';
import { askPostgres, postgresUrlOf } from '../ask-postgres.ts';

/** What the changes of one environment since a given time left in the database. */
export interface StoredChanges {
  /** In the order of the changes of each object. */
  entries: AuditEntry[];
  events: StoredEvent[];
  /** Ids of the rows made since then. */
  rows: string[];
  /** Ids of all rows. */
  existing: Set<string>;
}

export interface AuditEntry {
  action: string;
  objectId: string;
  requestId: string;
  before: Snapshot | null;
  after: Snapshot | null;
  at: number;
}

export type Snapshot = Record<string, unknown>;

export interface StoredEvent {
  type: string;
  objectId: string;
  at: number;
}

/** Tables of objects that have an id of ours. */
const TABLES = [
  ...['customers', 'plans', 'features', 'meters', 'addons', 'subscriptions'],
  ...['credit_grants', 'api_keys', 'webhook_endpoints'],
];

export async function readStoredChanges(instance: Instance, since: Date): Promise<StoredChanges> {
  const ask = <Row extends object>(sql: string) => {
    return askPostgres<Row>(postgresUrlOf(instance), sql, [`${instance.keys().workspaceId}:live`, since]);
  };
  const entries = await ask<Omit<AuditEntry, 'at'> & { at: Date }>(
    `SELECT action, object_id AS "objectId", request_id AS "requestId", before, after, created_at AS at
       FROM audit_log WHERE environment = $1 AND created_at >= $2 AND request_id IS NOT NULL ORDER BY id`,
  );
  const events = await ask<Omit<StoredEvent, 'at'> & { at: Date }>(
    `SELECT type, object_id AS "objectId", created_at AS at
       FROM webhook_events WHERE environment = $1 AND created_at >= $2`,
  );
  const objects = await ask<{ id: string; isNew: boolean }>(
    TABLES.map((table) => `SELECT id, created_at >= $2 AS "isNew" FROM ${table} WHERE environment = $1`).join(
      ' UNION ALL ',
    ),
  );
  return {
    entries: entries.map((row) => ({ ...row, at: row.at.getTime() })),
    events: events.map((row) => ({ ...row, at: row.at.getTime() })),
    rows: objects.filter(({ isNew }) => isNew).map(({ id }) => id),
    existing: new Set(objects.map(({ id }) => id)),
  };
}
