import type { Pool } from 'pg';
import type { LoadedPartition } from '../usage/partition-cuts.ts';

/** A stretch of the log that is counted: [lo, hi). */
export interface LoadedRange {
  partition: number;
  lo: number;
  hi: number;
  eventCount: number;
  /** Numbers of the lines that are not counted, ascending, from 0 over the whole range. */
  dropped: number[];
}

/** Up to where each of the first `partitions` is counted; 0 where nothing is. */
export async function readLoadedEnds(
  pool: Pool,
  logId: string,
  partitions: number,
): Promise<LoadedPartition[]> {
  const { rows } = await pool.query<LoadedPartition>(
    `SELECT number AS partition, coalesce((
              SELECT hi FROM log_ranges
               WHERE log_id = $1 AND partition = number AND state IN ('loaded', 'settled')
               ORDER BY lo DESC LIMIT 1), 0) AS hi
       FROM generate_series(0, $2::integer - 1) AS number`,
    [logId, partitions],
  );
  return rows;
}

/** What was counted after these positions, in order, up to so many ranges of each partition. */
export async function readLoadedRanges(
  pool: Pool,
  logId: string,
  { after, limit }: { after: readonly LoadedPartition[]; limit: number },
): Promise<LoadedRange[]> {
  const { rows } = await pool.query<LoadedRange>(
    `SELECT r.partition, r.lo, r.hi, r.event_count AS "eventCount", r.dropped
       FROM unnest($2::integer[], $3::bigint[]) AS seen (partition, hi)
      CROSS JOIN LATERAL (
            SELECT * FROM log_ranges
             WHERE log_id = $1 AND partition = seen.partition AND lo >= seen.hi
               AND state IN ('loaded', 'settled')
             ORDER BY lo LIMIT $4) r
      ORDER BY r.partition, r.lo`,
    [logId, after.map(({ partition }) => partition), after.map(({ hi }) => hi), limit],
  );
  return rows;
}
