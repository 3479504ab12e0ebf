import type { PoolClient } from 'pg';
import type { Database } from '../http/request-context.ts';
import { lockAccounts } from './reservation-accounts.ts';
import { type AccountPlace, COLUMNS, type ReservationRow } from './reservations.ts';

/*
 * Commits from when their event is durable until the counter surely has it. Each takes a number then, so that
 * a reader of the last number knows: all events up to it are on the log already.
 */

/** 0 where there is none. */
export async function lastCommitNumber(db: Database): Promise<number> {
  const { rows } = await db.query<{ number: number }>(
    `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS number FROM reservation_commits`,
  );
  return rows[0]?.number ?? 0;
}

/** What a commit takes of its account until it is forgotten. */
export interface UncountedCommit {
  customerId: string;
  meterKey: string;
  number: number;
  /** Decimal text. */
  reserved: string;
}

export async function readUncounted(
  db: Database,
  environment: string,
  { customerIds, upTo }: { customerIds: string[]; upTo: number },
): Promise<UncountedCommit[]> {
  const { rows } = await db.query<UncountedCommit>(
    `SELECT customer_id AS "customerId", meter_key AS "meterKey", commit_number AS number,
            reserved::text AS reserved
       FROM reservations
      WHERE environment = $1 AND customer_id = ANY ($2) AND status = 'committed' AND reserved > 0
        AND commit_number <= $3`,
    [environment, customerIds, upTo],
  );
  return rows;
}

/** Customers with commits up to this number that take something still, at most so many. */
export async function findUncountedAccounts(
  db: Database,
  { upTo, limit }: { upTo: number; limit: number },
): Promise<AccountPlace[]> {
  const { rows } = await db.query<AccountPlace>(
    `SELECT DISTINCT environment, customer_id AS "customerId" FROM (
       SELECT environment, customer_id FROM reservations
        WHERE status = 'committed' AND reserved > 0 AND commit_number <= $1 LIMIT $2) AS uncounted`,
    [upTo, limit],
  );
  return rows;
}

/** From now on commits up to this number are seen by their usage alone. Returns how many there were. */
export async function forgetCounted(
  client: PoolClient,
  environment: string,
  { customerIds, upTo }: { customerIds: string[]; upTo: number },
): Promise<number> {
  await lockAccounts(client, environment, customerIds);
  const { rows } = await client.query<{ count: number }>(
    `WITH counted AS (
       UPDATE reservations AS r SET reserved = 0 FROM (
         SELECT id, reserved FROM reservations
          WHERE environment = $1 AND customer_id = ANY ($2) AND status = 'committed' AND reserved > 0
            AND commit_number <= $3) AS old
        WHERE r.environment = $1 AND r.id = old.id
       RETURNING r.customer_id, r.meter_key, old.reserved),
     sums AS (SELECT customer_id, meter_key, sum(reserved) AS reserved FROM counted GROUP BY 1, 2),
     written AS (
       UPDATE reserved_amounts AS a
          SET held = a.held - s.reserved, uncounted = a.uncounted - s.reserved,
              beyond = least(a.beyond, a.held - s.reserved)
         FROM sums AS s
        WHERE a.environment = $1 AND a.customer_id = s.customer_id AND a.meter_key = s.meter_key)
     SELECT count(*) AS count FROM counted`,
    [environment, customerIds, upTo],
  );
  return rows[0]?.count ?? 0;
}

export interface UnfinishedCommit {
  environment: string;
  row: ReservationRow;
}

/** Whose event may be on the log or not, for so long, oldest first. */
export async function findUnfinishedCommits(
  db: Database,
  { before, except, limit }: { before: Date; except: string[]; limit: number },
): Promise<UnfinishedCommit[]> {
  const { rows } = await db.query<ReservationRow & { environment: string }>(
    `SELECT environment, ${COLUMNS} FROM reservations
      WHERE status = 'committing' AND committing_at <= $1 AND id <> ALL ($2)
      ORDER BY committing_at LIMIT $3`,
    [before, except, limit],
  );
  return rows.map(({ environment, ...row }) => ({ environment, row }));
}

/** The ranges of the log that are not settled by now. */
export async function findUnsettledRanges(db: Database, logId: string): Promise<LogRange[]> {
  const { rows } = await db.query<LogRange>(
    `SELECT partition, lo FROM log_ranges WHERE log_id = $1 AND state <> 'settled'`,
    [logId],
  );
  return rows;
}

export interface LogRange {
  partition: number;
  lo: number;
}

/** Whether none of these is left that is not settled. */
export async function areSettled(db: Database, logId: string, ranges: LogRange[]): Promise<boolean> {
  if (ranges.length === 0) return true;
  const { rowCount } = await db.query(
    `SELECT 1 FROM log_ranges AS r
       JOIN unnest($2::int[], $3::bigint[]) AS n (partition, lo) USING (partition, lo)
      WHERE r.log_id = $1 AND r.state <> 'settled' LIMIT 1`,
    [logId, ranges.map(({ partition }) => partition), ranges.map(({ lo }) => lo)],
  );
  return rowCount === 0;
}
