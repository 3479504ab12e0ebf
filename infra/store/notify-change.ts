import type { Pool, PoolClient } from 'pg';
import { CHANNELS, type ChangeNote } from '../../schemas/channels.ts';

/** Tells every cache, when this transaction commits, that a row it may hold has changed. */
export async function notifyChange(db: Pool | PoolClient, note: ChangeNote): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [CHANNELS.changes, JSON.stringify(note)]);
}
