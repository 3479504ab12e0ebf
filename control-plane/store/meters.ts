import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { EventSource } from '../../schemas/resources/meters.ts';
import type { Aggregation } from '../../schemas/usage-limits.ts';
import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';

/**
 * A meter as it is stored; rates are decimal strings, also those inside the JSON: jsonb's numbers are read as
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
  eventSource: EventSource | null;
  source: 'api' | 'auto';
  status: 'active' | 'archived';
  createdAt: Date;
  updatedAt: Date;
}

export type NewMeterRow = Omit<MeterRow, 'source' | 'status' | 'updatedAt'>;

export type MeterFields = Pick<
  MeterRow,
  'name' | 'unit' | 'creditRate' | 'creditRates' | 'eventSource' | 'status'
>;

const COLUMNS = `id, key, name, aggregation, property, unit, credit_rate AS "creditRate",
  credit_rates AS "creditRates", event_source AS "eventSource", source, status, created_at AS "createdAt",
  updated_at AS "updatedAt"`;

/** Undefined when the environment has a meter of this key. */
export async function insertMeter(
  db: Database,
  environment: string,
  row: NewMeterRow,
): Promise<MeterRow | undefined> {
  const { rows } = await db.query<MeterRow>(
    `INSERT INTO meters (id, environment, key, name, aggregation, property, unit, credit_rate, credit_rates,
                         event_source, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
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
      row.eventSource,
      row.createdAt,
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

/** By key or id, in no order. */
export async function findMeters(
  db: Database,
  environment: string,
  names: readonly string[],
): Promise<MeterRow[]> {
  const { rows } = await db.query<MeterRow>(
    `SELECT ${COLUMNS} FROM meters WHERE environment = $1 AND (id = ANY($2) OR key = ANY($2))`,
    [environment, names],
  );
  return rows;
}

/** As {@link findMeter}, locked against changes for the rest of the transaction. */
export async function lockMeter(
  db: Database,
  environment: string,
  name: string,
): Promise<MeterRow | undefined> {
  const { rows } = await db.query<MeterRow>(
    `SELECT ${COLUMNS} FROM meters WHERE environment = $1 AND (key = $2 OR id = $2) FOR NO KEY UPDATE`,
    [environment, name],
  );
  return rows[0];
}

export async function updateMeter(
  db: Database,
  environment: string,
  row: MeterFields & Pick<MeterRow, 'id' | 'updatedAt'>,
): Promise<MeterRow | undefined> {
  const { rows } = await db.query<MeterRow>(
    `UPDATE meters SET name = $3, unit = $4, credit_rate = $5, credit_rates = $6, event_source = $7,
                       status = $8, updated_at = $9
      WHERE environment = $1 AND id = $2
     RETURNING ${COLUMNS}`,
    [
      environment,
      row.id,
      row.name,
      row.unit,
      row.creditRate,
      row.creditRates,
      row.eventSource,
      row.status,
      row.updatedAt,
    ],
  );
  return rows[0];
}

export function listMeters(db: Database, environment: string, query: PageQuery) {
  return readPage<MeterRow>(db, meterList(environment), query);
}

export function meterList(environment: string): List {
  return { columns: COLUMNS, from: 'meters', where: 'environment = $1', values: [environment] };
}
