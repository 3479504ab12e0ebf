import type { Place } from './leases.ts';
import type { Queryable } from './queryable.ts';

/** What stands in a partition's way, for readyz. Again with one code: words and time are renewed. */
export async function raiseAlarm(
  db: Queryable,
  { logId, partition }: Place,
  { code, message }: { code: string; message: string },
): Promise<void> {
  await db.query(
    `INSERT INTO partition_alarms (log_id, partition, code, message) VALUES ($1, $2, $3, $4)
     ON CONFLICT (log_id, partition, code) DO UPDATE
     SET message = excluded.message, created_at = excluded.created_at`,
    [logId, partition, code, message],
  );
}

/** True when the partition is in other hands: what stands in our way does not stand in theirs. */
export async function isHeldByAnother(
  db: Queryable,
  { logId, partition }: Place,
  owner: string,
): Promise<boolean> {
  const { rows } = await db.query(
    `SELECT FROM partition_leases
     WHERE log_id = $1 AND partition = $2 AND owner <> $3 AND expires_at > now()`,
    [logId, partition, owner],
  );
  return rows.length > 0;
}

/**
 * All that a load that goes on does away with. That events stood on the log twice is told for as long as its
 * run lasts, at least `keptMs`; whether Kafka gives up what waits is for those to say who watch it.
 */
export async function clearAlarms(db: Queryable, { logId, partition }: Place, keptMs: number): Promise<void> {
  await db.query(
    `DELETE FROM partition_alarms
     WHERE log_id = $1 AND partition = $2 AND code <> 'log_near_retention'
       AND (code <> 'event_twice' OR created_at < now() - $3 * interval '1 millisecond')`,
    [logId, partition, keptMs],
  );
}
