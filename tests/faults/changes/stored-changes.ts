import { Client } from 'pg';
import { dataDirAt } from '../../../infra/platform/data-dir.ts';
import { readEndpoints } from '../../../infra/platform/endpoints-file.ts';

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
  'customers',
  'plans',
  'features',
  'meters',
  'addons',
  'subscriptions',
  'credit_grants',
  'api_keys',
  'webhook_endpoints',
];

export async function readStoredChanges(
  dataDir: string,
  { environment, since }: { environment: string; since: Date },
): Promise<StoredChanges> {
  const endpoints = readEndpoints(dataDirAt(dataDir).endpoints);
  const client = new Client({ connectionString: endpoints?.postgresUrl ?? '' });
  await client.connect();
  try {
    const values = [environment, since];
    const entries = await client.query<Omit<AuditEntry, 'at'> & { at: Date }>(
      `SELECT action, object_id AS "objectId", request_id AS "requestId", before, after, created_at AS at
         FROM audit_log WHERE environment = $1 AND created_at >= $2 AND request_id IS NOT NULL ORDER BY id`,
      values,
    );
    const events = await client.query<Omit<StoredEvent, 'at'> & { at: Date }>(
      `SELECT type, object_id AS "objectId", created_at AS at
         FROM webhook_events WHERE environment = $1 AND created_at >= $2`,
      values,
    );
    const objects = await client.query<{ id: string; isNew: boolean }>(
      TABLES.map(
        (table) => `SELECT id, created_at >= $2 AS "isNew" FROM ${table} WHERE environment = $1`,
      ).join(' UNION ALL '),
      values,
    );
    return {
      entries: entries.rows.map((row) => ({ ...row, at: row.at.getTime() })),
      events: events.rows.map((row) => ({ ...row, at: row.at.getTime() })),
      rows: objects.rows.filter(({ isNew }) => isNew).map(({ id }) => id),
      existing: new Set(objects.rows.map(({ id }) => id)),
    };
  } finally {
    await client.end();
  }
}
