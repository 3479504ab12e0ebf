import type { Pool, PoolClient } from 'pg';

/** Usage that has to be settled again, because a rule of its settlement has changed. */
export interface SettlementMark {
  /** Left out: every customer that used the meter from then on. */
  customerId?: string;
  meterKey: string;
  /** The period of this time, and those after it. */
  from: Date;
}

/** In the transaction of the change: a later settlement sees both. */
export async function markForSettlement(
  db: Pool | PoolClient,
  environment: string,
  { customerId = null, meterKey, from }: Omit<SettlementMark, 'customerId'> & { customerId?: string | null },
): Promise<void> {
  await db.query(
    `INSERT INTO settlement_marks (environment, customer_id, meter_key, from_at) VALUES ($1, $2, $3, $4)`,
    [environment, customerId, meterKey, from],
  );
}

/** The same for customers whose limits have changed, by the keys of the features; some are of no meter. */
export async function markFeatures(
  db: Pool | PoolClient,
  environment: string,
  { held, from }: { held: ReadonlyArray<{ customerId: string; featureKey: string }>; from: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO settlement_marks (environment, customer_id, meter_key, from_at)
     SELECT DISTINCT $1, held.customer_id, f.meter_key, $4::timestamptz
       FROM unnest($2::text[], $3::text[]) AS held (customer_id, feature_key)
       JOIN features f ON f.environment = $1 AND f.key = held.feature_key AND f.meter_key IS NOT NULL`,
    [environment, held.map(({ customerId }) => customerId), held.map(({ featureKey }) => featureKey), from],
  );
}

/** The same for customer meters, each from its own time on. */
export async function markMeters(
  db: Pool | PoolClient,
  marks: ReadonlyArray<Required<SettlementMark> & { environment: string }>,
): Promise<void> {
  await db.query(
    `INSERT INTO settlement_marks (environment, customer_id, meter_key, from_at)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])`,
    [
      marks.map(({ environment }) => environment),
      marks.map(({ customerId }) => customerId),
      marks.map(({ meterKey }) => meterKey),
      marks.map(({ from }) => from),
    ],
  );
}
