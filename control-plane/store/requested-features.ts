import type { MeterRates } from '../../domain/rules/credit-cover.ts';
import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { Database } from '../http/request-context.ts';

export interface RequestedFeatureRow extends MeterRates {
  id: string;
  key: string;
  type: FeatureType;
  /** Of its meter, like the rates; null unless it is metered. */
  meterKey: string | null;
  aggregation: Aggregation | null;
}

const COLUMNS = `f.id, f.key, f.type, f.meter_key AS "meterKey", m.aggregation,
  m.credit_rate AS "creditRate", m.credit_rates AS "creditRates"`;
const ITS_METER = 'LEFT JOIN meters m ON m.environment = f.environment AND m.key = f.meter_key';

/** The existing ones among the names, each a key or an id. */
export async function findRequestedFeatures(
  db: Database,
  environment: string,
  names: string[],
): Promise<RequestedFeatureRow[]> {
  const { rows } = await db.query<RequestedFeatureRow>(
    `SELECT ${COLUMNS}
       FROM features f ${ITS_METER}
      WHERE f.environment = $1 AND (f.key = ANY ($2) OR f.id = ANY ($2))`,
    [environment, names],
  );
  return rows;
}

/** The ones of the same ids that still exist. */
export async function readFeaturesAgain(
  db: Database,
  places: ReadonlyArray<{ environment: string; id: string }>,
): Promise<RequestedFeatureRow[]> {
  const { rows } = await db.query<RequestedFeatureRow>(
    `SELECT ${COLUMNS}
       FROM unnest($1::text[], $2::text[]) AS known (environment, id)
       JOIN features f ON f.environment = known.environment AND f.id = known.id ${ITS_METER}`,
    [places.map(({ environment }) => environment), places.map(({ id }) => id)],
  );
  return rows;
}
