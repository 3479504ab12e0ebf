import type { Queryable } from './queryable.ts';
import type { CustomerMeterPlace } from './read-budgets.ts';

/** A threshold in one period of a customer's meter. */
export interface Crossing extends CustomerMeterPlace {
  periodStart: Date;
  /** Decimal text. */
  threshold: string;
}

/** Those that were not crossed before; they are in the table from now on. */
export async function insertCrossings<One extends Crossing>(
  db: Queryable,
  crossings: readonly One[],
  now: Date,
): Promise<One[]> {
  if (crossings.length === 0) return [];
  const { rows } = await db.query<{ place: number }>(
    `WITH given AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::numeric[])
         WITH ORDINALITY AS new (environment, customer_id, meter_key, period_start, threshold, place)),
     fresh AS (
       INSERT INTO usage_crossings
              (environment, customer_id, meter_key, period_start, threshold, crossed_at)
       SELECT environment, customer_id, meter_key, period_start, threshold, $6 FROM given
        ORDER BY environment, customer_id, meter_key, period_start, threshold
       ON CONFLICT DO NOTHING
       RETURNING environment, customer_id, meter_key, period_start, threshold)
     SELECT given.place FROM given
       JOIN fresh USING (environment, customer_id, meter_key, period_start, threshold)
      ORDER BY given.place`,
    [...placesOf(crossings), crossings.map(({ threshold }) => threshold), now],
  );
  return rows.flatMap(({ place }) => crossings[place - 1] ?? []);
}

/** All that were crossed in these periods. */
export async function readCrossings(
  db: Queryable,
  periods: ReadonlyArray<Omit<Crossing, 'threshold'>>,
): Promise<Crossing[]> {
  const { rows } = await db.query<Crossing>(
    `SELECT environment, customer_id AS "customerId", meter_key AS "meterKey",
            period_start AS "periodStart", threshold
       FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
               AS given (environment, customer_id, meter_key, period_start)) requested
       JOIN usage_crossings USING (environment, customer_id, meter_key, period_start)`,
    placesOf(periods),
  );
  return rows;
}

/** They are crossed again when usage reaches them again. */
export async function removeCrossings(db: Queryable, crossings: readonly Crossing[]): Promise<void> {
  if (crossings.length === 0) return;
  await db.query(
    `DELETE FROM usage_crossings crossed
      USING unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::numeric[])
              AS fallen (environment, customer_id, meter_key, period_start, threshold)
      WHERE crossed.environment = fallen.environment AND crossed.customer_id = fallen.customer_id
        AND crossed.meter_key = fallen.meter_key AND crossed.period_start = fallen.period_start
        AND crossed.threshold = fallen.threshold`,
    [...placesOf(crossings), crossings.map(({ threshold }) => threshold)],
  );
}

function placesOf(periods: ReadonlyArray<Omit<Crossing, 'threshold'>>) {
  return [
    periods.map(({ environment }) => environment),
    periods.map(({ customerId }) => customerId),
    periods.map(({ meterKey }) => meterKey),
    periods.map(({ periodStart }) => periodStart),
  ];
}
