import type { Pool } from 'pg';
import type { Database } from '../request-context.ts';

/** False when it was taken before. */
export async function insertProcessorEvent(
  db: Database,
  environment: string,
  { id, receivedAt }: { id: string; receivedAt: Date },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO processor_events (environment, id, received_at) VALUES ($1, $2, $3)
     ON CONFLICT (environment, id) DO NOTHING`,
    [environment, id, receivedAt],
  );
  return rowCount === 1;
}

/**
 * Deletes at most `rowsMax` that are too old to come back: Stripe sends an event again for 3 days by itself,
 * and for 30 days when somebody asks for it. Returns how many went.
 */
export async function forgetProcessorEvents(pool: Pool, rowsMax: number): Promise<number> {
  const { rowCount } = await pool.query(
    `DELETE FROM processor_events WHERE ctid IN (
       SELECT ctid FROM processor_events WHERE received_at < now() - interval '35 days' LIMIT $1)`,
    [rowsMax],
  );
  return rowCount ?? 0;
}
