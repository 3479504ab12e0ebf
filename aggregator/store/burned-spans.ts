import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import type { Queryable } from './queryable.ts';
import type { MeterPlace } from './watched-meters.ts';

/** From the start of the first to the end of the last span in which usage of the meter has burned credits. */
interface SpanRow {
  customerId: string;
  first: Date;
  last: Date;
}

const SPANS = `SELECT customer_id AS "customerId", min(span_from) AS first, max(span_to) AS last
  FROM credit_burns WHERE environment = $1 AND meter_key = $2 AND burned > 0 AND span_from >= $3`;

/** Customers with burns for their usage of a meter, in the order of their ids here. */
export async function readBurnedCustomerMeters(
  db: Queryable,
  { environment, meterKey }: MeterPlace,
  { after, fromMs, limit }: { after: string; fromMs: number; limit: number },
): Promise<TouchedCustomerMeter[]> {
  const { rows } = await db.query<SpanRow>(
    `${SPANS} AND customer_id > $4 GROUP BY customer_id ORDER BY customer_id LIMIT $5`,
    [environment, meterKey, new Date(fromMs), after, limit],
  );
  return rows.map((row) => customerMeterOf({ environment, meterKey }, row));
}

/** The same of these customers. */
export async function readBurnedCustomerMetersOf(
  db: Queryable,
  { environment, meterKey }: MeterPlace,
  { customerIds, fromMs }: { customerIds: string[]; fromMs: number },
): Promise<TouchedCustomerMeter[]> {
  const { rows } = await db.query<SpanRow>(`${SPANS} AND customer_id = ANY ($4) GROUP BY customer_id`, [
    environment,
    meterKey,
    new Date(fromMs),
    customerIds,
  ]);
  return rows.map((row) => customerMeterOf({ environment, meterKey }, row));
}

function customerMeterOf(meter: MeterPlace, { customerId, first, last }: SpanRow): TouchedCustomerMeter {
  return { ...meter, customerId, occurredFromMs: first.getTime(), occurredToMs: last.getTime() - 1 };
}
