import type { Place } from './leases.ts';
import type { Queryable } from './queryable.ts';

/** What stands in a partition's way, for readyz. Again with one code: words and time are renewed. */
export async function raiseAlarm(
  db: Queryable,
  { logId, partition }: Place,
  code: string,
  message: string,
): Promise<void> {
  await db.query(
    `INSERT INTO partition_alarms (log_id, partition, code, message) VALUES ($1, $2, $3, $4)
     ON CONFLICT (log_id, partition, code) DO UPDATE
     SET message = excluded.message, created_at = excluded.created_at`,
    [logId, partition, code, message],
  );
}

/** Those that were raised before the last `keptMs`. */
export async function clearAlarms(db: Queryable, { logId, partition }: Place, keptMs: number): Promise<void> {
  await db.query(
    `DELETE FROM partition_alarms
     WHERE log_id = $1 AND partition = $2 AND created_at < now() - $3 * interval '1 millisecond'`,
    [logId, partition, keptMs],
  );
}
