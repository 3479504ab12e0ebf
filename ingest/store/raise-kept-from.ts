import type { Pool } from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';

/**
 * Writes down that the log (32 hexadecimal digits, partition 0) is given up as far as its ranges are settled
 * from the first on, and not beyond `before`; never back. Gives the position from which on it is kept now;
 * undefined while a repair holds it. Throws Transient.
 */
export async function raiseKeptFrom(
  pool: Pool,
  { logId, before }: { logId: string; before: number },
): Promise<number | undefined> {
  const { rows } = await pool
    .query<{ keptFrom: number }>(
      `WITH settled AS (
         SELECT coalesce(
           (SELECT lo FROM log_ranges
            WHERE log_id = $1 AND partition = 0 AND state <> 'settled' ORDER BY lo LIMIT 1),
           (SELECT hi FROM log_ranges WHERE log_id = $1 AND partition = 0 ORDER BY lo DESC LIMIT 1),
           0) AS position
       ), raised AS (
         SELECT old.position AS old, greatest(old.position, least($2::bigint, settled.position)) AS position
         FROM settled, (SELECT coalesce(
           (SELECT kept_from FROM log_trims WHERE log_id = $1 AND partition = 0), 0) AS position) AS old
       ), given AS (
         SELECT coalesce(sum(event_count - cardinality(dropped)) FILTER (WHERE hi <= position), 0) AS events,
                coalesce(max(through_ms), 0) AS through_ms
         FROM raised LEFT JOIN log_ranges
           ON log_id = $1 AND partition = 0 AND lo < position AND hi > old
       )
       INSERT INTO log_trims AS trims (log_id, partition, kept_from, events, through_ms)
       SELECT $1, 0, position, events, through_ms FROM raised, given
       ON CONFLICT (log_id, partition) DO UPDATE
         SET kept_from = excluded.kept_from, events = trims.events + excluded.events,
             through_ms = greatest(trims.through_ms, excluded.through_ms)
         WHERE trims.held_by IS NULL
       RETURNING kept_from AS "keptFrom"`,
      [logId, before],
    )
    .catch(throwTransient);
  return rows[0]?.keptFrom;
}
