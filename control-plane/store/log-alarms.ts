import type { Pool } from 'pg';

export interface LogAlarm {
  logId: string;
  partition: number;
  code: string;
  message: string;
}

/** For readyz. An existing alarm with the same code gets the new message. True when the alarm is new. */
export async function raiseLogAlarm(
  pool: Pool,
  { logId, partition, code, message }: LogAlarm,
): Promise<boolean> {
  const { rows } = await pool.query<{ isNew: boolean }>(
    `INSERT INTO partition_alarms (log_id, partition, code, message) VALUES ($1, $2, $3, $4)
     ON CONFLICT (log_id, partition, code) DO UPDATE SET message = excluded.message
     RETURNING xmax = 0 AS "isNew"`,
    [logId, partition, code, message],
  );
  return rows[0]?.isNew === true;
}

/** For all partitions except those. */
export async function clearLogAlarms(
  pool: Pool,
  { logId, code, except }: { logId: string; code: string; except: number[] },
): Promise<undefined> {
  await pool.query(
    'DELETE FROM partition_alarms WHERE log_id = $1 AND code = $2 AND partition <> ALL ($3::integer[])',
    [logId, code, except],
  );
}
