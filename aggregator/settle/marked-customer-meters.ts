import type { Warehouse } from '../../infra/ports/warehouse.ts';
import { customersSince } from '../store/customers-since.ts';
import type { Queryable } from '../store/queryable.ts';
import { type MarkRow, readMarks } from '../store/settlement-marks.ts';
import type { MarkDone } from './settle-batch.ts';
import type { ToSettle } from './touched-customer-meters.ts';

/** Marks that are looked at at once. */
const MARKS_MAX = 500;
/** Customers of one mark for all customers. */
const CUSTOMERS_MAX = 500;

/**
 * Customer meters whose budget, limit or rate has changed, the longest waiting first; and the marks that are
 * done once these are settled. Usage that occurred before a change and was settled before the change was seen
 * is settled by the change as well.
 */
export async function markedCustomerMeters(
  db: Queryable,
  { warehouse, nowMs }: { warehouse: Warehouse; nowMs: number },
): Promise<{ customerMeters: ToSettle[]; marks: MarkDone[] }> {
  const customerMeters: ToSettle[] = [];
  const marks: MarkDone[] = [];
  for (const mark of await readMarks(db, MARKS_MAX)) {
    const { customerId, id } = mark;
    if (customerId !== null) {
      customerMeters.push(customerMeterOf(mark, customerId, nowMs));
      marks.push({ id, position: undefined });
    } else if (customerMeters.length < CUSTOMERS_MAX) {
      const { environment, meterKey, position, from } = mark;
      const question = { environment, meterKey, after: position, fromMs: from.getTime() };
      const customers = await customersSince(warehouse, { ...question, limit: CUSTOMERS_MAX });
      customerMeters.push(...customers.map((customer) => customerMeterOf(mark, customer, nowMs)));
      marks.push({ id, position: customers.length < CUSTOMERS_MAX ? undefined : customers.at(-1) });
    }
  }
  return { customerMeters, marks };
}

function customerMeterOf(
  { environment, meterKey, from, rearms }: MarkRow,
  customerId: string,
  nowMs: number,
): ToSettle {
  const occurredFromMs = from.getTime();
  const occurredToMs = Math.max(occurredFromMs, nowMs);
  return { environment, customerId, meterKey, occurredFromMs, occurredToMs, rearms };
}
