import type { Queryable } from './queryable.ts';

/** A meter of one environment. */
export interface MeterPlace {
  environment: string;
  meterKey: string;
}

/** Of these the ones whose usage anything may follow from: a rate, a budget, or a feature's limit. */
export async function findWatchedMeters(db: Queryable, places: MeterPlace[]): Promise<MeterPlace[]> {
  if (places.length === 0) return [];
  const { rows } = await db.query<MeterPlace>(
    `SELECT asked.environment, asked.meter_key AS "meterKey"
       FROM unnest($1::text[], $2::text[]) AS asked (environment, meter_key)
      WHERE EXISTS (SELECT FROM meter_rates r
                     WHERE r.environment = asked.environment AND r.meter_key = asked.meter_key)
         OR EXISTS (SELECT FROM features f
                     WHERE f.environment = asked.environment AND f.meter_key = asked.meter_key)
         OR EXISTS (SELECT FROM budgets b
                     WHERE b.environment = asked.environment AND b.meter_key = asked.meter_key)`,
    [places.map(({ environment }) => environment), places.map(({ meterKey }) => meterKey)],
  );
  return rows;
}
