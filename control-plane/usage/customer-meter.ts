import { readMeteredTerms } from '../../domain/store/metered-terms.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { RequestContext } from '../http/request-context.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import { findMeter, type MeterRow } from '../store/meters.ts';
import { type Metering, meteringOf } from './metering.ts';

/** The customer and the meter: the key of the warehouse's tables. */
export interface CustomerMeter {
  environment: string;
  customerId: string;
  meter: MeterRow;
}

/** As they are in the path. */
interface CustomerMeterNames {
  customerId: string;
  meterId: string;
}

/** By the names in the path. Throws Rejected when one of them does not exist in this environment. */
export async function findCustomerMeter(
  context: RequestContext,
  names: CustomerMeterNames,
): Promise<CustomerMeter> {
  const customerId = await findCustomer(context, names.customerId);
  const meter = await findKnownMeter(context, names.meterId);
  return { environment: context.environment, customerId, meter };
}

/** By its key or id. Throws Rejected `meter_not_found`. */
export async function findKnownMeter(
  { db, environment }: Pick<RequestContext, 'db' | 'environment'>,
  name: string,
): Promise<MeterRow> {
  const meter = await findMeter(db, environment, name);
  if (!meter) throw meterNotFound(name);
  return meter;
}

/** The same with the period and the limit of the meter at a time. */
export async function findMeteredCustomerMeter(
  context: RequestContext,
  { atMs, ...names }: CustomerMeterNames & { atMs: number },
): Promise<{ customerMeter: CustomerMeter; metering: Metering }> {
  const customerMeter = await findCustomerMeter(context, names);
  const { customerId, meter } = customerMeter;
  return {
    customerMeter,
    metering: await readMetering(context, { customerId, meterKeys: [meter.key], atMs }),
  };
}

/** How meters of a customer are to be read at a time. */
export async function readMetering(
  { db, environment }: Pick<RequestContext, 'db' | 'environment'>,
  { customerId, meterKeys, atMs }: { customerId: string; meterKeys: string[]; atMs: number },
): Promise<Metering> {
  const from = new Date(atMs);
  const requested = meterKeys.map((meterKey) => ({ environment, customerId, meterKey, from }));
  return meteringOf(await readMeteredTerms(db, requested), atMs);
}

/** By its name in the path. Throws Rejected `customer_not_found`. */
export async function findCustomer(
  { db, environment }: Pick<RequestContext, 'db' | 'environment'>,
  name: string,
): Promise<string> {
  const customerId = await findCustomerId(db, environment, name);
  if (customerId === undefined) throw customerNotFound(name);
  return customerId;
}

function meterNotFound(name: string): Rejected {
  return new Rejected('meter_not_found', `There is no meter ${name}.`, { param: 'meterId' });
}

export function customerNotFound(name: string): Rejected {
  return new Rejected('customer_not_found', `There is no customer ${name}.`, { param: 'customerId' });
}
