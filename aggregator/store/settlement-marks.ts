import type { Queryable } from './queryable.ts';

/** What a change left to be settled anew (infra/store/settlement-marks.ts). */
export interface MarkRow {
  id: number;
  environment: string;
  /** Null: everybody who used the meter. */
  customerId: string | null;
  meterKey: string;
  from: Date;
  /** The last customer of a mark for everybody that was settled. */
  position: string;
}

/**
 * The oldest. None while a repair is under way: what it deletes is missing until it is put back, and it left
 * a mark for whoever is settled by that meanwhile.
 */
export async function readMarks(db: Queryable, limit: number): Promise<MarkRow[]> {
  const { rows } = await db.query<MarkRow>(
    `SELECT id, environment, customer_id AS "customerId", meter_key AS "meterKey", from_at AS "from", position
       FROM settlement_marks
      WHERE NOT EXISTS (SELECT FROM audit_runs WHERE repair AND state = 'running')
      ORDER BY id LIMIT $1`,
    [limit],
  );
  return rows;
}

/** Pairs whose counters are about to be repaired, each once. */
export async function markRepaired(
  db: Queryable,
  hours: ReadonlyArray<{ environment: string; customerId: string; meterKey: string; hour: string }>,
): Promise<void> {
  await db.query(
    `INSERT INTO settlement_marks (environment, customer_id, meter_key, from_at)
     SELECT e.id, h.customer_id, h.meter_key, min(h.hour)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
            AS h (environment, customer_id, meter_key, hour)
       JOIN environments e ON e.id = h.environment
      GROUP BY e.id, h.customer_id, h.meter_key`,
    [
      hours.map(({ environment }) => environment),
      hours.map(({ customerId }) => customerId),
      hours.map(({ meterKey }) => meterKey),
      hours.map(({ hour }) => hour),
    ],
  );
}

export async function removeMarks(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query('DELETE FROM settlement_marks WHERE id = ANY ($1)', [ids]);
}

/** A mark for everybody is done up to this customer. */
export async function advanceMark(db: Queryable, id: number, position: string): Promise<void> {
  await db.query('UPDATE settlement_marks SET position = $2 WHERE id = $1', [id, position]);
}
