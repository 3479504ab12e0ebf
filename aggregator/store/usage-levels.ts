import type { Queryable } from './queryable.ts';
import type { CustomerMeterPlace } from './read-budgets.ts';

/** What a customer has used of limit and budget of a meter. Decimal texts. */
export interface LevelRow extends CustomerMeterPlace {
  share: string;
  current: string;
  limit: string | null;
  budget: string | null;
  periodStart: Date;
  periodEnd: Date;
  changesAt: Date;
  /** Something that was used counts after the end of the period: it is settled again then. */
  usedAhead: boolean;
}

/** In the order of their keys. A row that is as before stays as it is, with its `updated_at`. */
export async function writeLevels(db: Queryable, rows: readonly LevelRow[], now: Date): Promise<void> {
  await db.query(
    `INSERT INTO usage_levels AS was
     SELECT environment, customer_id, meter_key, share, current, usage_limit, budget, period_start,
            period_end, changes_at, used_ahead, $12
       FROM unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::numeric[], $6::numeric[],
                   $7::numeric[], $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::boolean[])
              AS new (environment, customer_id, meter_key, share, current, usage_limit, budget, period_start,
                      period_end, changes_at, used_ahead)
      ORDER BY environment, customer_id, meter_key
     ON CONFLICT (environment, customer_id, meter_key) DO UPDATE
        SET share = excluded.share, current = excluded.current, usage_limit = excluded.usage_limit,
            budget = excluded.budget, period_start = excluded.period_start, period_end = excluded.period_end,
            changes_at = excluded.changes_at, updated_at = excluded.updated_at,
            used_ahead = excluded.used_ahead OR (was.used_ahead AND was.period_end = excluded.period_end)
      WHERE (was.current, was.usage_limit, was.budget, was.period_start, was.period_end, was.changes_at)
            IS DISTINCT FROM (excluded.current, excluded.usage_limit, excluded.budget, excluded.period_start,
                              excluded.period_end, excluded.changes_at)
         OR (excluded.used_ahead AND NOT was.used_ahead)`,
    [
      ...placesOf(rows),
      rows.map(({ share }) => share),
      rows.map(({ current }) => current),
      rows.map(({ limit }) => limit),
      rows.map(({ budget }) => budget),
      rows.map(({ periodStart }) => periodStart),
      rows.map(({ periodEnd }) => periodEnd),
      rows.map(({ changesAt }) => changesAt),
      rows.map(({ usedAhead }) => usedAhead),
      now,
    ],
  );
}

/** Of customer meters without a limit, or without usage. */
export async function removeLevels(db: Queryable, places: readonly CustomerMeterPlace[]): Promise<void> {
  await db.query(
    `DELETE FROM usage_levels l
      USING unnest($1::text[], $2::text[], $3::text[]) AS gone (environment, customer_id, meter_key)
      WHERE l.environment = gone.environment AND l.customer_id = gone.customer_id
        AND l.meter_key = gone.meter_key`,
    placesOf(places),
  );
}

/**
 * Rows of periods that have ended, of whose successors nothing was used yet: a month ends for all customers
 * at once. Never waits for a settlement.
 */
export async function removeEndedLevels(db: Queryable, now: Date, limit: number): Promise<void> {
  await db.query(
    `DELETE FROM usage_levels l
      USING (SELECT environment, customer_id, meter_key FROM usage_levels
              WHERE changes_at <= $1 AND period_end <= $1 AND NOT used_ahead
              ORDER BY changes_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS ended
      WHERE l.environment = ended.environment AND l.customer_id = ended.customer_id
        AND l.meter_key = ended.meter_key`,
    [now, limit],
  );
}

/** Rows that time has made others: to be settled again. */
export async function readDueLevels(db: Queryable, now: Date, limit: number): Promise<CustomerMeterPlace[]> {
  const { rows } = await db.query<CustomerMeterPlace>(
    `SELECT environment, customer_id AS "customerId", meter_key AS "meterKey" FROM usage_levels
      WHERE changes_at <= $1 AND (period_end > $1 OR used_ahead) ORDER BY changes_at LIMIT $2`,
    [now, limit],
  );
  return rows;
}

function placesOf(places: readonly CustomerMeterPlace[]): [string[], string[], string[]] {
  return [
    places.map(({ environment }) => environment),
    places.map(({ customerId }) => customerId),
    places.map(({ meterKey }) => meterKey),
  ];
}
