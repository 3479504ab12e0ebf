import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../infra/postgres/pool.ts';
import { newId } from '../schemas/ids.ts';
import { findRecipients, insertDeliveries, lockUntold, markFannedOut } from './store/fan-out.ts';

/** Of one transaction: with a hundred endpoints to be told, the most there can be, 20,000 deliveries. */
export const EVENTS_AT_ONCE = 200;

/**
 * Makes deliveries of events of the outbox, one for each endpoint that has selected the type. Marks and
 * deliveries are one transaction: an event is told to all of them or still waits. Several processes may do it
 * at once. Gives how many events it was; as many as there may be: there are more.
 */
export function fanOut(pool: Pool, now: Date): Promise<number> {
  return inTransaction(pool, (db) => fanOutBatch(db, now));
}

async function fanOutBatch(db: Pool | PoolClient, now: Date): Promise<number> {
  const events = await lockUntold(db, EVENTS_AT_ONCE);
  if (events.length === 0) return 0;
  await markFannedOut(
    db,
    events.map(({ id }) => id),
  );
  const recipients = await findRecipients(db, events);
  const deliveries = recipients.map((recipient) => ({ ...recipient, id: newId('dlv') }));
  if (deliveries.length > 0) await insertDeliveries(db, now, deliveries);
  return events.length;
}
