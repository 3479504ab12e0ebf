import type { Queryable } from './queryable.ts';

/** A change of usage that is to become visible. */
export interface ClosingChange {
  number: number;
  environment: string;
  /** All its records are loaded: this never ceases to be so. */
  isLoaded: boolean;
}

/** Changes that are closing, the oldest first, at most `limit`. */
export async function readClosing(db: Queryable, limit: number): Promise<ClosingChange[]> {
  const { rows } = await db.query<ClosingChange>(
    `SELECT number, environment, NOT EXISTS (
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
