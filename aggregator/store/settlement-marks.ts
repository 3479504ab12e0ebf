import type { Queryable } from './queryable.ts';
import type { CustomerMeterPlace } from './read-budgets.ts';

/** What has to be settled again after a change (domain/store/settlement-marks.ts). */
export interface MarkRow {
  id: number;
  environment: string;
  /** Null: every customer that used the meter. */
  customerId: string | null;
  meterKey: string;
  from: Date;
  /** The last settled customer of a mark for all customers. */
  position: string;
  /** Usage may have fallen by a change of it: thresholds above it are crossed again. */
  rearms: boolean;
}

/** The oldest. */
export async function readMarks(db: Queryable, limit: number): Promise<MarkRow[]> {
  const { rows } = await db.query<MarkRow>(
    `SELECT id, environment, customer_id AS "customerId", meter_key AS "meterKey", from_at AS "from",
            position, rearms
       FROM settlement_marks ORDER BY id LIMIT $1`,
    [limit],
  );
  return rows;
}

export async function removeMarks(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query('DELETE FROM settlement_marks WHERE id = ANY ($1)', [ids]);
}

/** A mark for all customers is done up to this customer. */
export async function advanceMark(db: Queryable, id: number, position: string): Promise<void> {
  await db.query('UPDATE settlement_marks SET position = $2 WHERE id = $1', [id, position]);
}

/**
 * Customer meters whose stored usage was repaired, each from the first of these hours on: cost, levels and
 * thresholds were settled with other sums.
 */
export async function markRepaired(
  db: Queryable,
  hours: ReadonlyArray<CustomerMeterPlace & { hour: string }>,
): Promise<void> {
  await db.query(
    `INSERT INTO settlement_marks (environment, customer_id, meter_key, from_at)
     SELECT e.id, repaired.customer_id, repaired.meter_key, min(repaired.hour)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
              AS repaired (environment, customer_id, meter_key, hour)
       JOIN environments e ON e.id = repaired.environment
      GROUP BY 1, 2, 3`,
    [
      hours.map(({ environment }) => environment),
      hours.map(({ customerId }) => customerId),
      hours.map(({ meterKey }) => meterKey),
      hours.map(({ hour }) => hour),
    ],
  );
}

/** Usage that a change has changed, which is visible with this transaction. */
export async function markChanged(
  db: Queryable,
  environment: string,
  changed: ReadonlyArray<Pick<MarkRow, 'customerId' | 'meterKey' | 'from'>>,
): Promise<void> {
  await db.query(
    `INSERT INTO settlement_marks (environment, customer_id, meter_key, from_at, rearms)
     SELECT $1, customer_id, meter_key, from_at, true
       FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS changed (customer_id, meter_key, from_at)`,
    [
      environment,
      changed.map(({ customerId }) => customerId),
      changed.map(({ meterKey }) => meterKey),
      changed.map(({ from }) => from),
    ],
  );
}

/** The customer meters of this list that wait to be settled again. */
export async function readMarkedMeters<One extends CustomerMeterPlace>(
  db: Queryable,
  places: readonly One[],
): Promise<Set<One>> {
  if (places.length === 0) return new Set();
  const { rows } = await db.query<{ place: number }>(
    `SELECT requested.place FROM unnest($1::text[], $2::text[], $3::text[])
              WITH ORDINALITY AS requested (environment, customer_id, meter_key, place)
      WHERE EXISTS (SELECT FROM settlement_marks m
                     WHERE m.environment = requested.environment AND m.meter_key = requested.meter_key
                       AND (m.customer_id IS NULL OR m.customer_id = requested.customer_id))`,
    [
      places.map(({ environment }) => environment),
      places.map(({ customerId }) => customerId),
      places.map(({ meterKey }) => meterKey),
    ],
  );
  return new Set(rows.flatMap(({ place }) => places[place - 1] ?? []));
}
