import type { Queryable } from './queryable.ts';

/**
 * So many events of all logs were acknowledged and stored or refused: those that were noted when their log
 * was given up, those of loaded ranges that end behind that, and the refused lines, which no range counts.
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
