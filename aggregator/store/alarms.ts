import { EVENT_TWICE, NEAR_RETENTION } from '../../schemas/alarm-codes.ts';
import type { Place } from './leases.ts';
import type { Queryable } from './queryable.ts';

/**
 * Raises an alarm of a partition, for readyz. A repeated code renews the message and the time. Does nothing
 * when a process other than `owner` holds the partition: what blocks this process does not block that one.
 */
export async function raiseAlarm(
  db: Queryable,
  { logId, partition }: Place,
  { code, message, owner }: { code: string; message: string; owner?: string },
): Promise<void> {
  await db.query(
    `INSERT INTO partition_alarms (log_id, partition, code, message)
     SELECT $1, $2, $3, $4 WHERE NOT EXISTS (
       SELECT FROM partition_leases
       WHERE log_id = $1 AND partition = $2 AND owner <> $5::text AND expires_at > now())
     ON CONFLICT (log_id, partition, code) DO UPDATE
     SET message = excluded.message, created_at = excluded.created_at`,
    [logId, partition, code, message, owner ?? null],
  );
}

/**
 * Clears all alarms that a running load disproves. The alarm for events that are on the log twice stays for
 * the whole run, at least `keptMs`. The watcher of Kafka's retention clears its own alarm.
 */
export async function clearAlarms(db: Queryable, { logId, partition }: Place, keptMs: number): Promise<void> {
  await db.query(
    `DELETE FROM partition_alarms
     WHERE log_id = $1 AND partition = $2 AND code <> $4
       AND (code <> $5 OR created_at < now() - $3 * interval '1 millisecond')`,
    [logId, partition, keptMs, NEAR_RETENTION, EVENT_TWICE],
  );
}
