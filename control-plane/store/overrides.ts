import type { HeldOverride } from '../../domain/rules/resolve-entitlements.ts';
import { rowsBy } from '../../domain/store/rows-by.ts';
import type { FeatureType } from '../../schemas/resources/entitlement-values.ts';
import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Resets } from '../../schemas/value-sets.ts';
import type { Database } from '../http/request-context.ts';
import { type List, listOf, readPage } from './read-page.ts';

export interface OverrideRow extends OverrideFields {
  id: string;
  customerId: string;
  featureId: string;
  featureKey: string;
  type: FeatureType;
  createdAt: Date;
  updatedAt: Date;
}

export interface OverrideFields {
  /** Of a boolean feature; otherwise null. */
  enabled: boolean | null;
  /** Decimal string; null is unlimited, except for a boolean feature. */
  amount: string | null;
  /** Of a metered feature; null: as its other values say. */
  resets: Resets | null;
  expiresAt: Date | null;
  reason: string | null;
}

/** The override's key: a customer has at most one for a feature. */
export type OverridePlace = Pick<OverrideRow, 'customerId' | 'featureId'>;

const COLUMNS = `id, customer_id AS "customerId", feature_id AS "featureId",
  (SELECT key FROM features WHERE features.id = feature_id) AS "featureKey",
  (SELECT type FROM features WHERE features.id = feature_id) AS type,
  enabled, amount, resets, expires_at AS "expiresAt", reason, created_at AS "createdAt",
  updated_at AS "updatedAt"`;

/** Replaces the existing one, which keeps its id. The customer and the feature are locked. */
export async function putOverride(
  db: Database,
  environment: string,
  row: Omit<OverrideRow, 'featureKey' | 'type' | 'createdAt' | 'resets'> & Partial<OverrideRow>,
): Promise<OverrideRow | undefined> {
  const { rows } = await db.query<OverrideRow>(
    `INSERT INTO overrides (id, environment, customer_id, feature_id, enabled, amount, expires_at, reason,
                            created_at, updated_at, resets)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)
     ON CONFLICT (customer_id, feature_id) DO UPDATE
        SET enabled = excluded.enabled, amount = excluded.amount, expires_at = excluded.expires_at,
            reason = excluded.reason, updated_at = excluded.updated_at, resets = excluded.resets
      WHERE overrides.environment = excluded.environment
     RETURNING ${COLUMNS}`,
    [
      row.id,
      environment,
      row.customerId,
      row.featureId,
      row.enabled,
      row.amount,
      row.expiresAt,
      row.reason,
      row.updatedAt,
      row.resets,
    ],
  );
  return rows[0];
}

export async function findOverride(
  db: Database,
  environment: string,
  { customerId, featureId }: OverridePlace,
): Promise<OverrideRow | undefined> {
  const { rows } = await db.query<OverrideRow>(
    `SELECT ${COLUMNS} FROM overrides WHERE environment = $1 AND customer_id = $2 AND feature_id = $3`,
    [environment, customerId, featureId],
  );
  return rows[0];
}

export async function countOverrides(db: Database, environment: string, customerId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM overrides WHERE environment = $1 AND customer_id = $2',
    [environment, customerId],
  );
  return rows[0]?.count ?? 0;
}

export async function deleteOverride(
  db: Database,
  environment: string,
  { customerId, featureId }: OverridePlace,
): Promise<void> {
  await db.query('DELETE FROM overrides WHERE environment = $1 AND customer_id = $2 AND feature_id = $3', [
    environment,
    customerId,
    featureId,
  ]);
}

export function listOverrides(
  db: Database,
  environment: string,
  { customerId, ...page }: PageQuery & { customerId: string },
) {
  return readPage<OverrideRow>(db, listOf(overrideList(environment), 'customer_id', customerId), page);
}

export function overrideList(environment: string): List {
  return { columns: COLUMNS, from: 'overrides', where: 'environment = $1', values: [environment] };
}

/** For customers, each with a time range: the overrides that expired after its start, up to its end. */
export async function findExpired(
  db: Database,
  environment: string,
  spans: ReadonlyArray<{ customerId: string; after: Date; upTo: Date }>,
): Promise<OverrideRow[]> {
  const { rows } = await db.query<OverrideRow>(
    `SELECT ${COLUMNS}
       FROM unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) AS span (customer, after, up_to)
       JOIN ${rowsBy('overrides', 'customer_id', 'span.customer')} AS held
         ON held.expires_at > span.after AND held.expires_at <= span.up_to
     WHERE environment = $1
     ORDER BY expires_at, id`,
    [
      environment,
      spans.map(({ customerId }) => customerId),
      spans.map(({ after }) => after),
      spans.map(({ upTo }) => upTo),
    ],
  );
  return rows;
}

/** All overrides of a customer, in the form that the rules take. */
export async function readCustomerOverrides(
  db: Database,
  environment: string,
  customerId: string,
): Promise<HeldOverride[]> {
  const { rows } = await db.query<HeldOverride>(
    `SELECT f.key AS "featureKey", f.type, f.meter_key AS "meterKey",
            CASE f.type WHEN 'boolean' THEN to_json(o.enabled) ELSE to_json(o.amount::text) END AS value,
            o.resets, (extract(epoch FROM o.expires_at) * 1000)::bigint AS "expiresAtMs"
       FROM overrides o JOIN features f ON f.id = o.feature_id
      WHERE o.environment = $1 AND o.customer_id = $2`,
    [environment, customerId],
  );
  return rows;
}
