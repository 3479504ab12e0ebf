import type { Pool } from 'pg';
import { CHANNELS } from '../../schemas/channels.ts';
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

/** Tells the aggregator that somebody waits for what is on the log. */
export async function notifyReaderWaits(pool: Pool): Promise<void> {
  await pool.query('SELECT pg_notify($1, $2)', [CHANNELS.readerWaits, '']);
}
