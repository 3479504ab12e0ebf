import type { Database } from '../../http/request-context.ts';
import { lockTold, type ToldRow, type TurnedCustomer } from '../../store/notified-entitlements.ts';
import type { Told } from './fan-out.ts';
import { tellCustomers } from './notify-customers.ts';

/** Tells customers of what time has changed: an override has expired, a grace has ended. */
export async function tellTurned(
  db: Database,
  turned: readonly TurnedCustomer[],
  nowMs: number,
): Promise<Told> {
  let events = 0;
  for (const environment of [...new Set(turned.map((one) => one.environment))].sort()) {
    const here = turned.filter((one) => one.environment === environment);
    const customerIds = here.map(({ customerId }) => customerId);
    const rows = await lockTold(db, environment, customerIds);
    const sinceMs = ({ nextTurn }: ToldRow) => nextTurn?.getTime() ?? nowMs;
    events += await tellCustomers(db, { environment, nowMs, sinceMs }, rows);
  }
  return { customers: turned.length, events };
}
