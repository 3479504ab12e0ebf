import type { Pool } from 'pg';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import {
  type OnExpiry,
  RESERVATION_KEPT_DAYS,
  type ReservationStatus,
} from '../../schemas/resources/reservations.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';
import { amountColumns, putAmountsSql, type ReservedAmount } from './reservation-accounts.ts';

export interface ReservationRow {
  id: string;
  customerId: string;
  featureKey: string;
  meterKey: string;
  /** Of a meter that counts events: an event is 1, whatever its value. */
  countsEvents: boolean;
  /** Decimal texts. `reserved`: what it takes of the limit now. */
  amount: string;
  reserved: string;
  /** `committing`: its event may be on the log or not. */
  status: ReservationStatus | 'committing';
  onExpiry: OnExpiry;
  /** As JSON. */
  properties: string | null;
  createdBy: string;
  createdAt: Date;
  /** When `expiresAt` was set. */
  renewedAt: Date;
  expiresAt: Date;
  endedAt: Date | null;
  /** Of its event, once a commit has begun. */
  value: string | null;
  occurredAt: Date | null;
  /** As JSON. */
  eventProperties: string | null;
  /** It had expired when it was committed. */
  late: boolean;
  committingAt: Date | null;
  /** As JSON, once it is durable. */
  event: string | null;
  /** As JSON, where it was made by consuming. */
  decision: string | null;
}

export const COLUMNS = `id, customer_id AS "customerId", feature_key AS "featureKey",
  meter_key AS "meterKey", counts_events AS "countsEvents", amount::text AS amount,
  reserved::text AS reserved, status, on_expiry AS "onExpiry", properties::text AS properties,
  created_by AS "createdBy", created_at AS "createdAt", renewed_at AS "renewedAt", expires_at AS "expiresAt",
  ended_at AS "endedAt", value::text AS value, occurred_at AS "occurredAt",
  event_properties AS "eventProperties", late, committing_at AS "committingAt", event, decision`;

export async function findReservation(
  db: Database,
  environment: string,
  id: string,
): Promise<ReservationRow | undefined> {
  const { rows } = await db.query<ReservationRow>(
    `SELECT ${COLUMNS} FROM reservations WHERE environment = $1 AND id = $2`,
    [environment, id],
  );
  return rows[0];
}

export interface ReservationFilter {
  customerId?: string | undefined;
  /** As of `now`: one past its expiry is expired, also before that is recorded. */
  status?: ReservationStatus | undefined;
  now: Date;
}

export function listReservations(
  db: Database,
  environment: string,
  { customerId, status, now, ...page }: ReservationFilter & PageQuery,
): Promise<{ rows: ReservationRow[]; total: number }> {
  const values: unknown[] = [environment];
  const valued = (value: unknown) => `$${values.push(value)}`;
  const where = ['environment = $1'];
  if (customerId !== undefined) where.push(`customer_id = ${valued(customerId)}`);
  if (status === 'held') {
    const open = `status = 'held' AND (expires_at > ${valued(now)} OR on_expiry = 'commit')`;
    where.push(`((${open}) OR (status = 'committing' AND NOT late))`);
  }
  if (status === 'released' || status === 'committed') where.push(`status = ${valued(status)}`);
  if (status === 'expired') {
    const isOver = `status = 'held' AND on_expiry = 'release' AND expires_at <= ${valued(now)}`;
    where.push(`(status = 'expired' OR (${isOver}) OR (status = 'committing' AND late))`);
  }
  const list: List = { columns: COLUMNS, from: 'reservations', where: where.join(' AND '), values };
  return readPage(db, list, page);
}

/** Of customers whose accounts are locked: these by their ids, and those that are due, at most so many. */
export async function readConcerned(
  db: Database,
  environment: string,
  { customerIds, ids, now, dueMax }: { customerIds: string[]; ids: string[]; now: Date; dueMax: number },
): Promise<ReservationRow[]> {
  const { rows } = await db.query<ReservationRow>(
    `SELECT ${COLUMNS} FROM reservations WHERE environment = $1 AND id = ANY ($3)
      UNION
     (SELECT ${COLUMNS} FROM reservations
       WHERE environment = $1 AND customer_id = ANY ($2) AND status = 'held' AND expires_at <= $4
       ORDER BY expires_at LIMIT $5)`,
    [environment, customerIds, ids, now, dueMax],
  );
  return rows;
}

/** What changes in a transaction. */
export interface ReservationChanges {
  inserted: readonly ReservationRow[];
  updated: readonly ReservationRow[];
  amounts: readonly ReservedAmount[];
}

/** In one statement where holds are made, which is one round trip under the locks. */
export async function writeReservations(
  db: Database,
  environment: string,
  { inserted, updated, amounts }: ReservationChanges,
): Promise<void> {
  if (updated.length > 0) await updateReservations(db, environment, updated);
  if (amounts.length === 0) return;
  const columns = Object.keys(INSERTED) as Array<keyof typeof INSERTED>;
  const types = Object.values(INSERTED).map(({ type }, at) => `$${at + 2}::${type}[]`);
  await db.query({
    name: 'write-reservations',
    text: `WITH inserted AS (
       INSERT INTO reservations (environment, ${Object.values(INSERTED).map(({ column }) => column)})
       SELECT $1, * FROM unnest(${types}))
     ${putAmountsSql(2 + columns.length)}`,
    values: [
      environment,
      ...columns.map((name) => inserted.map((row) => row[name])),
      ...amountColumns(amounts),
    ],
  });
}

/** What may change of them. */
const UPDATED = {
  status: { column: 'status', type: 'text' },
  amount: { column: 'amount', type: 'numeric' },
  reserved: { column: 'reserved', type: 'numeric' },
  renewedAt: { column: 'renewed_at', type: 'timestamptz' },
  expiresAt: { column: 'expires_at', type: 'timestamptz' },
  endedAt: { column: 'ended_at', type: 'timestamptz' },
  value: { column: 'value', type: 'numeric' },
  occurredAt: { column: 'occurred_at', type: 'timestamptz' },
  eventProperties: { column: 'event_properties', type: 'text' },
  late: { column: 'late', type: 'boolean' },
  committingAt: { column: 'committing_at', type: 'timestamptz' },
  event: { column: 'event', type: 'text' },
  decision: { column: 'decision', type: 'text' },
} as const satisfies Columns;

type Columns = Partial<Record<keyof ReservationRow, { column: string; type: string }>>;

const INSERTED = {
  id: { column: 'id', type: 'text' },
  customerId: { column: 'customer_id', type: 'text' },
  featureKey: { column: 'feature_key', type: 'text' },
  meterKey: { column: 'meter_key', type: 'text' },
  countsEvents: { column: 'counts_events', type: 'boolean' },
  onExpiry: { column: 'on_expiry', type: 'text' },
  properties: { column: 'properties', type: 'jsonb' },
  createdBy: { column: 'created_by', type: 'text' },
  createdAt: { column: 'created_at', type: 'timestamptz' },
  ...UPDATED,
} as const satisfies Columns;

/** The number of a commit is taken here, when its event is durable. */
async function updateReservations(
  db: Database,
  environment: string,
  rows: readonly ReservationRow[],
): Promise<void> {
  const names = Object.keys(UPDATED) as Array<keyof typeof UPDATED>;
  const columns = Object.values(UPDATED).map(({ column }) => column);
  const types = Object.values(UPDATED).map(({ type }, at) => `$${at + 3}::${type}[]`);
  await db.query({
    name: 'update-reservations',
    text: `UPDATE reservations AS r
        SET ${columns.map((column) => `${column} = n.${column}`)},
            commit_number = CASE WHEN n.status = 'committed' AND r.status <> 'committed'
                                 THEN nextval('reservation_commits') ELSE r.commit_number END
       FROM unnest($2::text[], ${types}) AS n (id, ${columns})
      WHERE r.environment = $1 AND r.id = n.id`,
    values: [environment, rows.map(({ id }) => id), ...names.map((name) => rows.map((row) => row[name]))],
  });
}

export interface AccountPlace {
  environment: string;
  customerId: string;
}

/** The customers of the reservations that are due longest, each once. */
export async function findDueAccounts(
  db: Database,
  { now, except, limit }: { now: Date; except: string[]; limit: number },
): Promise<AccountPlace[]> {
  const { rows } = await db.query<AccountPlace>(
    `SELECT DISTINCT environment, customer_id AS "customerId" FROM (
       SELECT environment, customer_id FROM reservations
        WHERE status = 'held' AND expires_at <= $1 AND customer_id <> ALL ($2)
        ORDER BY expires_at LIMIT $3) AS due`,
    [now, except, limit],
  );
  return rows;
}

export async function nextReservationExpiry(db: Database): Promise<Date | undefined> {
  const { rows } = await db.query<{ at: Date }>(
    `SELECT expires_at AS at FROM reservations WHERE status = 'held' ORDER BY expires_at LIMIT 1`,
  );
  return rows[0]?.at;
}

export interface OpenReservations {
  count: number;
  oldestAt: Date | null;
}

/** For metrics: of all environments. Counts up to a million. */
export async function countOpenReservations(db: Database): Promise<OpenReservations> {
  const { rows } = await db.query<OpenReservations>(
    `SELECT count(*) AS count, min(created_at) AS "oldestAt"
       FROM (SELECT created_at FROM reservations WHERE status = 'held' LIMIT 1000000) AS open`,
  );
  return rows[0] ?? { count: 0, oldestAt: null };
}

/** Deletes reservations that ended long ago, at most `rowsMax` at a time. Returns how many. */
export async function forgetReservations(pool: Pool, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM reservations WHERE ctid IN (
       SELECT ctid FROM reservations
        WHERE status NOT IN ('held', 'committing') AND reserved = 0
          AND ended_at < now() - make_interval(days => $2) LIMIT $1)`,
    [rowsMax, RESERVATION_KEPT_DAYS],
  );
  return rowCount ?? 0;
}
