import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { Database } from '../request-context.ts';

/**
 * A meter as it is stored; rates are decimal texts, also those inside the JSON: jsonb's numbers leave as
 * doubles.
 */
export interface MeterRow {
  id: string;
  key: string;
  name: string;
  aggregation: Aggregation;
  property: string | null;
  unit: string | null;
  creditRate: string | null;
  creditRates: { property: string; rates: Record<string, string> } | null;
  source: 'api' | 'auto';
  status: 'active' | 'archived';
  createdAt: Date;
}

export type NewMeterRow = Omit<MeterRow, 'source' | 'status' | 'createdAt'>;

const COLUMNS = `id, key, name, aggregation, property, unit, credit_rate AS "creditRate",
  credit_rates AS "creditRates", source, status, created_at AS "createdAt"`;

/** Undefined when the environment has a meter of this key. */
export async function insertMeter(
  db: Database,
  environment: string,
  row: NewMeterRow,
): Promise<MeterRow | undefined> {
  const { rows } = await db.query<MeterRow>(
    `INSERT INTO meters (id, environment, key, name, aggregation, property, unit, credit_rate, credit_rates)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (environment, key) DO NOTHING
     RETURNING ${COLUMNS}`,
    [
      row.id,
      environment,
      row.key,
      row.name,
      row.aggregation,
      row.property,
      row.unit,
      row.creditRate,
      row.creditRates,
    ],
  );
  return rows[0];
}

/** By key or id; no key looks like an id. */
export async function findMeter(
  db: Database,
  environment: string,
  name: string,
): Promise<MeterRow | undefined> {
  const { rows } = await db.query<MeterRow>(
    `SELECT ${COLUMNS} FROM meters WHERE environment = $1 AND (key = $2 OR id = $2)`,
    [environment, name],
  );
  return rows[0];
}

export async function countMeters(db: Database, environment: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>('SELECT count(*) FROM meters WHERE environment = $1', [
    environment,
  ]);
  return rows[0]?.count ?? 0;
}

/** Newest first, ties by id. */
export async function listMeters(
  db: Database,
  environment: string,
  { offset, limit }: { offset: number; limit: number },
): Promise<MeterRow[]> {
  const { rows } = await db.query<MeterRow>(
    `SELECT ${COLUMNS} FROM meters WHERE environment = $1
      ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT $3`,
    [environment, offset, limit],
  );
  return rows;
}
