import type { Queryable } from './queryable.ts';

/**
 * How many events of all logs were acknowledged and are stored or rejected: the recorded count of each
 * abandoned log, the loaded ranges that end after that, and the rejected lines, which no range counts.
 */
export async function countAcknowledged(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ events: number }>(
    `SELECT (
       (SELECT coalesce(sum(events), 0) FROM log_trims)
       + (SELECT coalesce(sum(event_count - cardinality(dropped)), 0)
          FROM log_ranges AS ranges LEFT JOIN log_trims AS trims USING (log_id, partition)
          WHERE state <> 'pending' AND hi > coalesce(kept_from, 0))
       + (SELECT count(*) FROM quarantine)
     )::bigint AS events`,
  );
  return rows[0]?.events ?? 0;
}

export interface StoredEvents {
  /** Of all logs, by what is recorded of them. */
  counted: number;
  /** Those of them that this log has not given up. */
  onLog: number;
}

/** How many events the warehouse has to hold, and how many of them could be put into it again. */
export async function countStored(db: Queryable, logId: string): Promise<StoredEvents> {
  const { rows } = await db.query<StoredEvents>(
    `WITH loaded AS (
       SELECT log_id, event_count - cardinality(dropped) AS events
         FROM log_ranges AS ranges LEFT JOIN log_trims AS trims USING (log_id, partition)
        WHERE state <> 'pending' AND hi > coalesce(kept_from, 0))
     SELECT ((SELECT coalesce(sum(events), 0) FROM log_trims)
             + (SELECT coalesce(sum(events), 0) FROM loaded))::bigint AS counted,
            (SELECT coalesce(sum(events), 0) FROM loaded WHERE log_id = $1)::bigint AS "onLog"`,
    [logId],
  );
  return rows[0] ?? { counted: 0, onLog: 0 };
}
