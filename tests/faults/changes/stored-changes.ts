import { type Api, getPatiently } from '../../support/api.ts';
import { seenInTime } from '../../support/in-time.ts';
import type { Instance } from '../../support/instance.ts';
import { postgresUrlOf, queryPostgres } from '../query-postgres.ts';

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
  const query = <Row extends object>(sql: string) => {
    return queryPostgres<Row>(postgresUrlOf(instance), sql, [`${instance.keys().workspaceId}:live`, since]);
  };
  const entries = await query<Omit<AuditEntry, 'at'> & { at: Date }>(
    `SELECT action, object_id AS "objectId", request_id AS "requestId", before, after, created_at AS at
       FROM audit_log WHERE environment = $1 AND created_at >= $2 AND request_id IS NOT NULL ORDER BY id`,
  );
  const events = await query<Omit<StoredEvent, 'at'> & { at: Date }>(
    `SELECT type, object_id AS "objectId", created_at AS at
       FROM webhook_events WHERE environment = $1 AND created_at >= $2`,
  );
  const objects = await query<{ id: string; isNew: boolean }>(
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

/**
 * How the entitlements in the customers' last notifications differ from those that the API returns:
 * a change that emits no notification is found here. Covers customers touched since a given time.
 */
export async function judgeNotified(
  { instance, api }: { instance: Instance; api: Api },
  since: Date,
): Promise<string[]> {
  const query = <Row extends object>(sql: string, values: unknown[] = []) => {
    return queryPostgres<Row>(postgresUrlOf(instance), sql, values);
  };
  const isQuiet = async () => {
    const [row] = await query<{ waiting: string }>(
      `SELECT (SELECT count(*) FROM fanout_jobs)
            + (SELECT count(*) FROM entitlements_told WHERE next_turn <= now()) AS waiting`,
    );
    return Number(row?.waiting) === 0 || undefined;
  };
  await seenInTime(isQuiet, QUIET, 'all entitlement notifications');
  const rows = await query<NotifiedRow>(
    `SELECT customer_id AS "customerId", told AS notified FROM entitlements_told
      WHERE environment = $1 AND resolved_at >= $2 ORDER BY resolved_at DESC LIMIT $3`,
    [`${instance.keys().workspaceId}:live`, since, CUSTOMERS_MAX],
  );
  const judged = await Promise.all(rows.map((row) => judgeCustomer(api, row)));
  return judged.flat();
}

const QUIET = { timeoutMs: 60_000, everyMs: 50 };
const READ_PATIENCE_MS = 60_000;
const CUSTOMERS_MAX = 100;

export interface NotifiedRow {
  customerId: string;
  notified: Record<string, true | string | null>;
}

/** How the last notifications of a customer differ from what it reads. */
export async function judgeCustomer(api: Api, { customerId, notified }: NotifiedRow): Promise<string[]> {
  const { status, body } = await getPatiently(api, `/entitlements/${customerId}`, READ_PATIENCE_MS);
  if (status !== 200) return [`the entitlements of ${customerId} returned ${status}`];
  const held = body as Array<{ featureKey: string; effectiveValue: unknown }>;
  // A limit of 0 is notified where it is soft, which the list does not show.
  const given = held.filter(
    ({ featureKey, effectiveValue }) => !isNothing(effectiveValue) || featureKey in notified,
  );
  const is = inOrder(given.map(({ featureKey, effectiveValue }) => [featureKey, plain(effectiveValue)]));
  const was = inOrder(Object.entries(notified));
  return is === was ? [] : [`${customerId} was notified of ${was} and reads ${is}`];
}

function isNothing(value: unknown): boolean {
  return value === false || plain(value) === '0';
}

/** Numbers come as text behind a mark. */
function plain(value: unknown): unknown {
  return typeof value === 'string' ? value.slice(1) : value;
}

function inOrder(values: Array<[string, unknown]>): string {
  return JSON.stringify(values.sort(([a], [b]) => (a < b ? -1 : 1)));
}
