import type { Database } from '../http/request-context.ts';

/** Decimal texts. */
export interface UsageLevelRow {
  customerId: string;
  meterKey: string;
  share: string;
  current: string;
  limit: string | null;
  budget: string | null;
  unit: string | null;
  periodStart: Date;
  periodEnd: Date;
  updatedAt: Date;
}

/** Of the last entry of the previous page. */
export interface LevelPlace {
  share: string;
  customerId: string;
  meterKey: string;
}

export interface LevelFilter {
  /** The least share. */
  above: string;
  meterKey: string | undefined;
  after: LevelPlace | undefined;
  limit: number;
  now: Date;
}

/**
 * Largest share first, ties by customer and meter. Rows of a period that is over are skipped until the
 * settlement removes them.
 */
export async function listUsageLevels(
  db: Database,
  environment: string,
  { above, meterKey, after, limit, now }: LevelFilter,
): Promise<UsageLevelRow[]> {
  const values: unknown[] = [environment, above, now, limit];
  const given = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['l.environment = $1', 'l.share >= $2::numeric', 'l.period_end > $3'];
  if (meterKey !== undefined) conditions.push(`l.meter_key = ${given(meterKey)}`);
  if (after) {
    const [share, customer, meter] = [after.share, after.customerId, after.meterKey].map(given);
    conditions.push(
      `l.share <= ${share}::numeric
       AND (l.share < ${share}::numeric OR (l.customer_id, l.meter_key) > (${customer}, ${meter}))`,
    );
  }
  const { rows } = await db.query<UsageLevelRow>(
    `SELECT l.customer_id AS "customerId", l.meter_key AS "meterKey", l.share, l.current,
            l.usage_limit AS "limit", l.budget, m.unit, l.period_start AS "periodStart",
            l.period_end AS "periodEnd", l.updated_at AS "updatedAt"
       FROM (SELECT * FROM usage_levels l WHERE ${conditions.join(' AND ')}
              ORDER BY share DESC, customer_id, meter_key LIMIT $4) l
       LEFT JOIN meters m ON m.environment = l.environment AND m.key = l.meter_key
      ORDER BY l.share DESC, l.customer_id, l.meter_key`,
    values,
  );
  return rows;
}
