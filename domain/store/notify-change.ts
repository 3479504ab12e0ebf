import type { Pool, PoolClient } from 'pg';
import { CHANNELS, type Invalidation } from '../../schemas/stored/channels.ts';
import { sendInvalidations } from './send-invalidations.ts';

/** Notifies every cache, when this transaction commits, that a row it may have has changed. */
export async function notifyChange(db: Pool | PoolClient, change: Invalidation): Promise<void> {
  await notifyChanges(db, [change]);
}

/** The same of several rows. */
export async function notifyChanges(db: Pool | PoolClient, changes: readonly Invalidation[]): Promise<void> {
  await sendInvalidations(
    db,
    changes.map((change) => ({ channel: CHANNELS.changes, payload: JSON.stringify(change) })),
  );
}
