import type { Pool, PoolClient } from 'pg';
import { CHANNELS, type ChangeNote } from '../../schemas/channels.ts';
import { sendNotes } from './send-notes.ts';

/** Tells every cache, when this transaction commits, that a row it may hold has changed. */
export async function notifyChange(db: Pool | PoolClient, note: ChangeNote): Promise<void> {
  await sendNotes(db, [{ channel: CHANNELS.changes, payload: JSON.stringify(note) }]);
}
