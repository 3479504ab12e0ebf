import type { Database } from '../../http/request-context.ts';
import { lockNotified, type NotifiedRow, type TurnedCustomer } from '../../store/notified-entitlements.ts';
import type { Notified } from './fan-out.ts';
import { notifyCustomers } from './notify-customers.ts';

/** Notifies customers of what time has changed: an override has expired, a grace has ended. */
export async function notifyDue(
  db: Database,
  turned: readonly TurnedCustomer[],
  nowMs: number,
): Promise<Notified> {
  let events = 0;
  for (const environment of [...new Set(turned.map((one) => one.environment))].sort()) {
    const here = turned.filter((one) => one.environment === environment);
    const customerIds = here.map(({ customerId }) => customerId);
    const rows = await lockNotified(db, environment, customerIds);
    const sinceMs = ({ nextTurn }: NotifiedRow) => nextTurn?.getTime() ?? nowMs;
    events += await notifyCustomers(db, { environment, nowMs, sinceMs }, rows);
  }
  return { customers: turned.length, events };
}
