import { Rejected } from '../../schemas/failures.ts';
import type { RequestContext } from '../request-context.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import { findMeter, type MeterRow } from '../store/meters.ts';

/** Whose usage of what: how the warehouse's tables are keyed. */
export interface Pair {
  environment: string;
  customerId: string;
  meter: MeterRow;
}

/** By the names in the path. Throws Rejected when one of them is nothing in this environment. */
export async function findPair(
  { db, environment }: RequestContext,
  names: { customerId: string; meterId: string },
): Promise<Pair> {
  const customerId = await findCustomerId(db, environment, names.customerId);
  if (customerId === undefined) {
    throw new Rejected('customer_not_found', `There is no customer ${names.customerId}.`, {
      param: 'customerId',
    });
  }
  const meter = await findMeter(db, environment, names.meterId);
  if (!meter)
    throw new Rejected('meter_not_found', `There is no meter ${names.meterId}.`, { param: 'meterId' });
  return { environment, customerId, meter };
}
