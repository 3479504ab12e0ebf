import type { Pool } from 'pg';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import { RESERVATION_KEPT_DAYS, type ReservationStatus } from '../../schemas/resources/reservations.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';
import { amountColumns, putAmountsSql, type ReservedAmount } from './reservation-accounts.ts';

export interface ReservationRow {
  id: string;
  customerId: string;
  featureKey: string;
  meterKey: string;
  /** Decimal text. */
  amount: string;
  status: ReservationStatus;
  /** As JSON. */
  properties: string | null;
  createdBy: string;
  createdAt: Date;
  /** When `expiresAt` was set. */
  renewedAt: Date;
  expiresAt: Date;
  endedAt: Date | null;
}

const COLUMNS = `id, customer_id AS "customerId", feature_key AS "featureKey", meter_key AS "meterKey",
  amount::text AS amount, status, properties::text AS properties, created_by AS "createdBy",
  created_at AS "createdAt", renewed_at AS "renewedAt", expires_at AS "expiresAt", ended_at AS "endedAt"`;

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
  if (status === 'held') where.push(`status = 'held' AND expires_at > ${valued(now)}`);
  if (status === 'released') where.push(`status = 'released'`);
  if (status === 'expired') {
    where.push(`(status = 'expired' OR (status = 'held' AND expires_at <= ${valued(now)}))`);
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
  const column = <Name extends keyof ReservationRow>(name: Name) => inserted.map((row) => row[name]);
  await db.query({
    name: 'write-reservations',
    text: `WITH inserted AS (
       INSERT INTO reservations (environment, status, id, customer_id, feature_key, meter_key, amount,
              properties, created_by, created_at, renewed_at, expires_at)
       SELECT $1, 'held', * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[],
              $7::jsonb[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[]))
     ${putAmountsSql(12)}`,
    values: [
      environment,
      column('id'),
      column('customerId'),
      column('featureKey'),
      column('meterKey'),
      column('amount'),
      column('properties'),
      column('createdBy'),
      column('createdAt'),
      column('renewedAt'),
      column('expiresAt'),
      ...amountColumns(amounts),
    ],
  });
}

/** What may change of them. */
async function updateReservations(
  db: Database,
  environment: string,
  rows: readonly ReservationRow[],
): Promise<void> {
  const column = <Name extends keyof ReservationRow>(name: Name) => rows.map((row) => row[name]);
  await db.query(
    `UPDATE reservations AS r
        SET status = n.status, amount = n.amount, renewed_at = n.renewed_at, expires_at = n.expires_at,
            ended_at = n.ended_at
       FROM unnest($2::text[], $3::text[], $4::numeric[], $5::timestamptz[], $6::timestamptz[],
                   $7::timestamptz[]) AS n (id, status, amount, renewed_at, expires_at, ended_at)
      WHERE r.environment = $1 AND r.id = n.id`,
    [
      environment,
      column('id'),
      column('status'),
      column('amount'),
      column('renewedAt'),
      column('expiresAt'),
      column('endedAt'),
    ],
  );
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
        WHERE status <> 'held' AND ended_at < now() - make_interval(days => $2) LIMIT $1)`,
    [rowsMax, RESERVATION_KEPT_DAYS],
  );
  return rowCount ?? 0;
}
