import type { NotifiedValues } from '../../domain/rules/entitlement-changes.ts';
import type { Database } from '../http/request-context.ts';

/**
 * The last notification of a customer, locked: no other transaction notifies it before this one has ended.
 */
export interface NotifiedRow {
  customerId: string;
  notified: NotifiedValues;
  /** The time of the notified values. Nothing earlier is notified later: time does not run backwards. */
  resolvedAt: Date;
  /** When time alone may change it next. */
  nextTurn: Date | null;
}

const ROW = `customer_id AS "customerId", told AS notified, resolved_at AS "resolvedAt",
  next_turn AS "nextTurn"`;

/** Locks the rows of customers with changed grants, and raises their versions. */
export async function touchNotified(
  db: Database,
  environment: string,
  { customerIds, at }: { customerIds: string[]; at: Date },
): Promise<NotifiedRow[]> {
  const { rows } = await db.query<NotifiedRow>(
    `INSERT INTO entitlements_told AS was (environment, customer_id, resolved_at)
     SELECT $1, id, $3 FROM unnest($2::text[]) AS id ORDER BY id
     ON CONFLICT (environment, customer_id) DO UPDATE
       SET version = was.version + 1, resolved_at = greatest(was.resolved_at, excluded.resolved_at)
     RETURNING ${ROW}`,
    [environment, customerIds, at],
  );
  return rows;
}

/** A row for each that has none; waits for a row that another transaction is inserting. */
export async function addNotified(
  db: Database,
  environment: string,
  { customerIds, at }: { customerIds: string[]; at: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO entitlements_told (environment, customer_id, resolved_at)
     SELECT $1, id, $3 FROM unnest($2::text[]) AS id ORDER BY id
     ON CONFLICT (environment, customer_id) DO NOTHING`,
    [environment, customerIds, at],
  );
}

/** Always in one order, so that transactions that lock several rows cannot deadlock. */
export async function lockNotified(
  db: Database,
  environment: string,
  customerIds: string[],
): Promise<NotifiedRow[]> {
  const { rows } = await db.query<NotifiedRow>(
    `SELECT ${ROW} FROM entitlements_told WHERE environment = $1 AND customer_id = ANY ($2)
      ORDER BY customer_id FOR NO KEY UPDATE`,
    [environment, customerIds],
  );
  return rows;
}

/** Of rows that are locked. */
export async function writeNotified(
  db: Database,
  environment: string,
  rows: readonly NotifiedRow[],
): Promise<void> {
  await db.query(
    `UPDATE entitlements_told was
        SET told = now.told::jsonb, resolved_at = now.resolved_at, next_turn = now.next_turn
       FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
         AS now (customer_id, told, resolved_at, next_turn)
      WHERE was.environment = $1 AND was.customer_id = now.customer_id`,
    [
      environment,
      rows.map(({ customerId }) => customerId),
      rows.map(({ notified }) => JSON.stringify(notified)),
      rows.map(({ resolvedAt }) => resolvedAt),
      rows.map(({ nextTurn }) => nextTurn),
    ],
  );
}

export interface TurnedCustomer {
  environment: string;
  customerId: string;
  /** The time of its change, as Postgres prints it: to the microsecond. */
  turn: string;
}

/**
 * The customers of all environments whose values time may have changed, the longest due first. Leaves out
 * `except`, each as long as its time is the same.
 */
export async function findTurned(
  db: Database,
  now: Date,
  { except, limit }: { except: readonly TurnedCustomer[]; limit: number },
): Promise<TurnedCustomer[]> {
  const { rows } = await db.query<TurnedCustomer>(
    `SELECT environment, customer_id AS "customerId", next_turn::text AS turn FROM entitlements_told
      WHERE next_turn <= $1
        AND (customer_id, next_turn) NOT IN (SELECT * FROM unnest($2::text[], $3::timestamptz[]))
      ORDER BY next_turn LIMIT $4`,
    [now, except.map(({ customerId }) => customerId), except.map(({ turn }) => turn), limit],
  );
  return rows;
}
