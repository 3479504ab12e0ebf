import { CHANNELS } from '../../schemas/stored/channels.ts';
import type { Database } from '../http/request-context.ts';

/** Wakes the change notifier when this transaction commits. */
export async function notifyFanout(db: Database): Promise<void> {
  await db.query(`SELECT pg_notify($1, '')`, [CHANNELS.fanoutRequested]);
}
