import { EVENT_TWICE, NEAR_RETENTION } from '../../schemas/alarm-codes.ts';
import type { Place } from './leases.ts';
import type { Queryable } from './queryable.ts';

/**
 * What stands in a partition's way, for readyz. Again with one code: words and time are renewed. Not where
 * another than `owner` holds it: what stands in our way does not stand in theirs.
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
 * All that a load that goes on does away with. That events stood on the log twice is told for as long as its
 * run lasts, at least `keptMs`; whether Kafka gives up what waits is for those to say who watch it.
 */
export async function clearAlarms(db: Queryable, { logId, partition }: Place, keptMs: number): Promise<void> {
  await db.query(
    `DELETE FROM partition_alarms
     WHERE log_id = $1 AND partition = $2 AND code <> $4
       AND (code <> $5 OR created_at < now() - $3 * interval '1 millisecond')`,
    [logId, partition, keptMs, NEAR_RETENTION, EVENT_TWICE],
  );
}
