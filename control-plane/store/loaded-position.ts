import type { Pool } from 'pg';
import { CHANNELS } from '../../schemas/stored/channels.ts';
import type { LoadedPartition } from '../usage/partition-cuts.ts';
import type { Loaded } from '../usage/progress.ts';

/** The last range of this log that is in the warehouse; undefined before the first. Embedded: partition 0. */
export async function readLoadedPosition(pool: Pool, logId: string): Promise<Loaded | undefined> {
  const { rows } = await pool.query<Loaded>(
    `SELECT hi, through_ms AS "throughMs" FROM log_ranges
      WHERE log_id = $1 AND partition = 0 AND state IN ('loaded', 'settled')
      ORDER BY lo DESC LIMIT 1`,
    [logId],
  );
  return rows[0];
}

/** The same for each partition that was ever loaded. */
export async function readLoadedPartitions(pool: Pool, logId: string): Promise<LoadedPartition[]> {
  const { rows } = await pool.query<LoadedPartition>(
    `SELECT partition, hi FROM partition_leases AS leases CROSS JOIN LATERAL (
       SELECT hi FROM log_ranges AS ranges
        WHERE ranges.log_id = leases.log_id AND ranges.partition = leases.partition
          AND state IN ('loaded', 'settled')
        ORDER BY lo DESC LIMIT 1) AS latest
      WHERE log_id = $1`,
    [logId],
  );
  return rows;
}

/** Notifies the aggregator that a reader waits for events on the log. */
export async function notifyReaderWaits(pool: Pool): Promise<void> {
  await pool.query('SELECT pg_notify($1, $2)', [CHANNELS.readerWaits, '']);
}
