import type { Queryable } from './queryable.ts';
import type { CustomerMeterPlace } from './read-budgets.ts';

/** What one span of a customer's meter has used and burned under one label. */
export interface BurnRow extends CustomerMeterPlace {
  from: Date;
  to: Date;
  version: number;
  label: string;
  /** Decimal text; null in rows of earlier releases. */
  used: string | null;
  /** Decimal text of at most 24 fraction digits. */
  burned: string;
}

/**
 * For each customer meter the spans that intersect its stretch of time. It locks no rows, of which a month by
 * the hour would have thousands: the settlement lock already allows one settlement at a time.
 */
export async function readBurns(
  db: Queryable,
  customerMeters: ReadonlyArray<CustomerMeterPlace & { from: Date; to: Date }>,
): Promise<BurnRow[]> {
  const { rows } = await db.query<BurnRow>(
    `SELECT b.environment, b.customer_id AS "customerId", b.meter_key AS "meterKey", b.span_from AS "from",
            b.span_to AS "to", b.version, b.label, b.used, b.burned
       FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
              AS requested (environment, customer_id, meter_key, begins, ends)
       JOIN credit_burns b USING (environment, customer_id, meter_key)
      WHERE b.span_from < requested.ends AND requested.begins < b.span_to`,
    [
      customerMeters.map(({ environment }) => environment),
      customerMeters.map(({ customerId }) => customerId),
      customerMeters.map(({ meterKey }) => meterKey),
      customerMeters.map(({ from }) => from),
      customerMeters.map(({ to }) => to),
    ],
  );
  return rows;
}

export async function removeBurns(db: Queryable, rows: readonly BurnRow[]): Promise<void> {
  await db.query(
    `DELETE FROM credit_burns b
      USING unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[])
              AS gone (environment, customer_id, meter_key, span_from, label)
      WHERE b.environment = gone.environment AND b.customer_id = gone.customer_id
        AND b.meter_key = gone.meter_key AND b.span_from = gone.span_from AND b.label = gone.label`,
    [
      rows.map(({ environment }) => environment),
      rows.map(({ customerId }) => customerId),
      rows.map(({ meterKey }) => meterKey),
      rows.map(({ from }) => from),
      rows.map(({ label }) => label),
    ],
  );
}

export async function writeBurns(db: Queryable, rows: readonly BurnRow[]): Promise<void> {
  await db.query(
    `INSERT INTO credit_burns
       (environment, customer_id, meter_key, span_from, span_to, version, label, used, burned)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[],
                          $6::integer[], $7::text[], $8::numeric[], $9::numeric[])
     ON CONFLICT (environment, customer_id, meter_key, span_from, label)
     DO UPDATE SET span_to = excluded.span_to, version = excluded.version, used = excluded.used,
                   burned = excluded.burned`,
    [
      rows.map(({ environment }) => environment),
      rows.map(({ customerId }) => customerId),
      rows.map(({ meterKey }) => meterKey),
      rows.map(({ from }) => from),
      rows.map(({ to }) => to),
      rows.map(({ version }) => version),
      rows.map(({ label }) => label),
      rows.map(({ used }) => used),
      rows.map(({ burned }) => burned),
    ],
  );
}
