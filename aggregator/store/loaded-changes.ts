import type { Queryable } from './queryable.ts';
import type { Range } from './ranges.ts';

/** A change of usage that is to become visible. */
export interface ClosingChange {
  number: number;
  environment: string;
  /** Where its records end, as JSON. */
  ends: string;
  /** All its records are loaded: this never ceases to be so. */
  isLoaded: boolean;
}

/** Changes that are closing, the oldest first, at most `limit`. */
export async function readClosing(db: Queryable, limit: number): Promise<ClosingChange[]> {
  const { rows } = await db.query<ClosingChange>(
    `SELECT number, environment, ends_at::text AS ends, NOT EXISTS (
              SELECT FROM jsonb_to_recordset(ends_at)
                       AS needed ("logId" text, partition integer, "end" bigint)
               WHERE needed."end" > ${LOADED_TO}) AS "isLoaded"
       FROM usage_changes WHERE state = 'closing' ORDER BY number LIMIT $1`,
    [limit],
  );
  return rows;
}

/** Of the partition of `needed`: ranges are loaded in order, and what is pending may be stored in part. */
const LOADED_TO = `coalesce(
  (SELECT lo FROM log_ranges
    WHERE log_id = needed."logId" AND partition = needed.partition AND state = 'pending'
    ORDER BY lo LIMIT 1),
  (SELECT hi FROM log_ranges
    WHERE log_id = needed."logId" AND partition = needed.partition ORDER BY lo DESC LIMIT 1),
  0)`;

/**
 * Locks the change. False unless it is closing and ends where it did: records that came behind were perhaps
 * not stored when the change's usage was read.
 */
export async function lockClosing(
  db: Queryable,
  { number, ends }: Pick<ClosingChange, 'number' | 'ends'>,
): Promise<boolean> {
  const { rows } = await db.query(
    `SELECT FROM usage_changes WHERE number = $1 AND state = 'closing' AND ends_at = $2::jsonb
        FOR NO KEY UPDATE`,
    [number, ends],
  );
  return rows.length > 0;
}

/**
 * Of the changes that a loaded range has records of, those that are visible: nothing but its own settlement
 * settles these records. Of those that are closing the end is moved behind the range, so that what
 * settles them knows of it. Throws what Postgres throws.
 */
export async function visibleChanges(
  db: Queryable,
  { logId, partition, hi }: Pick<Range, 'logId' | 'partition' | 'hi'>,
  numbers: readonly number[],
): Promise<Set<number>> {
  if (numbers.length === 0) return new Set();
  const end = JSON.stringify([{ logId, partition, end: hi }]);
  await db.query(MOVE_ENDS, [numbers, logId, partition, hi, end]);
  // A statement of its own: one that became visible while this waited for its row is seen.
  const { rows } = await db.query<{ number: number }>(
    `SELECT number FROM usage_changes WHERE number = ANY ($1) AND state = 'visible'`,
    [numbers],
  );
  return new Set(rows.map(({ number }) => number));
}

/** Locked in their order: partitions do this at once. */
const MOVE_ENDS = `
  WITH behind AS (
    SELECT number FROM usage_changes
     WHERE number = ANY ($1) AND state = 'closing' AND NOT EXISTS (
             SELECT FROM jsonb_to_recordset(ends_at) AS known ("logId" text, partition integer, "end" bigint)
              WHERE known."logId" = $2 AND known.partition = $3 AND known."end" >= $4)
     ORDER BY number FOR NO KEY UPDATE)
  UPDATE usage_changes AS change SET ends_at = change.ends_at || $5::jsonb
    FROM behind WHERE change.number = behind.number`;
