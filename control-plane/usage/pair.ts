import { findHolder, type Holder, type HolderQuestion } from '../../infra/find-holder.ts';
import { Rejected } from '../../schemas/failures.ts';
import type { HoldingReads } from '../entitlements/holding-reads.ts';
import type { RequestContext } from '../request-context.ts';
import { findCustomerId } from '../store/find-customer-id.ts';
import { findMeter, type MeterRow } from '../store/meters.ts';
import { type Metering, meteringOf } from './metering.ts';

/** Whose usage of what: how the warehouse's tables are keyed. */
export interface Pair {
  environment: string;
  customerId: string;
  meter: MeterRow;
}

/** As they stand in the path. */
interface PairNames {
  customerId: string;
  meterId: string;
}

/** By the names in the path. Throws Rejected when one of them is nothing in this environment. */
export async function findPair(context: RequestContext, names: PairNames): Promise<Pair> {
  const { db, environment } = context;
  const customerId = await findCustomerId(db, environment, names.customerId);
  if (customerId === undefined) throw customerNotFound(names.customerId);
  const meter = await findMeter(db, environment, names.meterId);
  if (!meter) throw meterNotFound(names.meterId);
  return { environment, customerId, meter };
}

/** The same with the period and the limit of the meter at a moment. */
export async function findMeteredPair(
  context: RequestContext,
  holdingReads: HoldingReads,
  { atMs, ...names }: PairNames & { atMs: number },
): Promise<{ pair: Pair; metering: Metering }> {
  const { db, environment, nowMs } = context;
  const meter = await findMeter(db, environment, names.meterId);
  const question = { customer: names.customerId, atMs, meterKeys: meter ? [meter.key] : [] };
  const holder = await meteredHolder(context, holdingReads, question);
  if (!meter) throw meterNotFound(names.meterId);
  const pair = { environment, customerId: holder.customerId, meter };
  return { pair, metering: meteringOf(holder, { atMs, nowMs }) };
}

/** With what it held on these meters at a moment. Throws Rejected `customer_not_found`. */
export async function meteredHolder(
  context: RequestContext,
  holdingReads: HoldingReads,
  question: Pick<HolderQuestion, 'customer' | 'atMs' | 'meterKeys'>,
): Promise<Holder> {
  const { environment } = context;
  const holder = await holdingReads(context, (db) =>
    findHolder(db, { ...question, environment, featureIds: [] }),
  );
  if (!holder) throw customerNotFound(question.customer);
  return holder;
}

function meterNotFound(name: string): Rejected {
  return new Rejected('meter_not_found', `There is no meter ${name}.`, { param: 'meterId' });
}

export function customerNotFound(name: string): Rejected {
  return new Rejected('customer_not_found', `There is no customer ${name}.`, { param: 'customerId' });
}
