import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../infra/postgres/pool.ts';
import { newId } from '../schemas/primitives/ids.ts';
import {
  findRecipients,
  insertDeliveries,
  lockPending,
  markFannedOut,
  type PendingEvent,
  type Recipient,
} from './store/fan-out.ts';

/** Of one transaction: many, since each of them costs as much as a hundred deliveries. */
const EVENTS_AT_ONCE = 1_000;
/** Takes fewer events when each has many endpoints; one event has a hundred endpoints at most. */
const DELIVERIES_AT_ONCE = 5_000;

/**
 * Makes the deliveries of outbox events, one for each endpoint that selected the type. The mark and the
 * deliveries are one transaction: an event is sent to all its endpoints or still waits. Several processes may
 * do this at once. Returns the number of events; 0 when there are no more.
 */
export function fanOut(pool: Pool, now: Date): Promise<number> {
  // mutant: outbox-outside-its-transaction
  return inTransaction(pool, (db) => fanOutBatch(db, now));
}

async function fanOutBatch(db: Pool | PoolClient, now: Date): Promise<number> {
  const pending = await lockPending(db, EVENTS_AT_ONCE);
  if (pending.length === 0) return 0;
  const { events, recipients } = wholeEvents(
    pending,
    await findRecipients(db, pending, DELIVERIES_AT_ONCE + 1),
  );
  await markFannedOut(
    db,
    events.map(({ id }) => id),
  );
  const deliveries = recipients.map((recipient) => ({ ...recipient, id: newId('dlv') }));
  if (deliveries.length > 0) await insertDeliveries(db, now, deliveries);
  return events.length;
}

/** Without those of which not all recipients are among so many. */
function wholeEvents(events: PendingEvent[], recipients: Recipient[]) {
  const cutOff = recipients[DELIVERIES_AT_ONCE]?.eventId;
  if (cutOff === undefined) return { events, recipients };
  return {
    events: events.slice(
      0,
      events.findIndex(({ id }) => id === cutOff),
    ),
    recipients: recipients.slice(
      0,
      recipients.findIndex(({ eventId }) => eventId === cutOff),
    ),
  };
}
