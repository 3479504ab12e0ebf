import { CHANNELS, type ChangeNote } from '../../schemas/channels.ts';
import type { Database } from '../request-context.ts';

/** Tells every cache, when this transaction commits, that a row it may hold has changed. */
export async function notifyChange(db: Database, note: ChangeNote): Promise<void> {
  await db.query('SELECT pg_notify($1, $2)', [CHANNELS.changes, JSON.stringify(note)]);
}
