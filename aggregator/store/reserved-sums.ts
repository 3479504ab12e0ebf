import type { Pool } from 'pg';

/** A customer's meter of which something else is held than its open reservations hold. Decimal texts. */
export interface ReservedDifference {
  kind: 'reservations';
  environment: string;
  customerId: string;
  meterKey: string;
  held: string;
  open: string;
}

/** Of one snapshot: both are written in the same transactions. At most so many. */
export async function contradictoryReservations(pool: Pool, limit: number): Promise<ReservedDifference[]> {
  const { rows } = await pool.query<ReservedDifference>(
    `SELECT 'reservations' AS kind, environment, customer_id AS "customerId", meter_key AS "meterKey",
            coalesce(sums.held, 0)::text AS held, coalesce(opened.amount, 0)::text AS open
       FROM reserved_amounts AS sums
       FULL JOIN (SELECT environment, customer_id, meter_key, sum(amount) AS amount
                    FROM reservations WHERE status = 'held' GROUP BY 1, 2, 3) AS opened
            USING (environment, customer_id, meter_key)
      WHERE coalesce(sums.held, 0) <> coalesce(opened.amount, 0)
      LIMIT $1`,
    [limit],
  );
  return rows;
}
