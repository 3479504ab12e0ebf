import type { Queryable } from './queryable.ts';

/** A meter of one environment. */
export interface MeterPlace {
  environment: string;
  meterKey: string;
}

/** Those whose usage may have an effect: a rate, a budget, or a feature's limit. */
export async function findWatchedMeters(db: Queryable, places: MeterPlace[]): Promise<MeterPlace[]> {
  if (places.length === 0) return [];
  const { rows } = await db.query<MeterPlace>(
    `SELECT requested.environment, requested.meter_key AS "meterKey"
       FROM unnest($1::text[], $2::text[]) AS requested (environment, meter_key)
      WHERE EXISTS (SELECT FROM meter_rates r
                     WHERE r.environment = requested.environment AND r.meter_key = requested.meter_key)
         OR EXISTS (SELECT FROM features f
                     WHERE f.environment = requested.environment AND f.meter_key = requested.meter_key)
         OR EXISTS (SELECT FROM budgets b
                     WHERE b.environment = requested.environment AND b.meter_key = requested.meter_key)`,
    [places.map(({ environment }) => environment), places.map(({ meterKey }) => meterKey)],
  );
  return rows;
}
