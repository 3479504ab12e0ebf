import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { Database } from '../request-context.ts';

export interface AskedFeatureRow {
  id: string;
  key: string;
  type: FeatureType;
  /** Of its meter; both null unless it is metered. */
  meterKey: string | null;
  aggregation: Aggregation | null;
}

/** Those of the names, each a key or an id, that there are. */
export async function findAskedFeatures(
  db: Database,
  environment: string,
  names: string[],
): Promise<AskedFeatureRow[]> {
  const { rows } = await db.query<AskedFeatureRow>(
    `SELECT f.id, f.key, f.type, f.meter_key AS "meterKey", m.aggregation
       FROM features f LEFT JOIN meters m ON m.environment = f.environment AND m.key = f.meter_key
      WHERE f.environment = $1 AND (f.key = ANY ($2) OR f.id = ANY ($2))`,
    [environment, names],
  );
  return rows;
}
