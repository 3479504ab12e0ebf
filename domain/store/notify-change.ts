import type { Pool, PoolClient } from 'pg';
import { CHANNELS, type Invalidation } from '../../schemas/stored/channels.ts';
import { sendNotes } from './send-invalidations.ts';

/** Notifies every cache, when this transaction commits, that a row it may have has changed. */
export async function notifyChange(db: Pool | PoolClient, note: Invalidation): Promise<void> {
  await notifyChanges(db, [note]);
}

/** The same of several rows. */
export async function notifyChanges(db: Pool | PoolClient, notes: readonly Invalidation[]): Promise<void> {
  await sendNotes(
    db,
    notes.map((note) => ({ channel: CHANNELS.changes, payload: JSON.stringify(note) })),
  );
}
