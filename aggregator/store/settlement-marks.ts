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

/** The oldest. */
export async function readMarks(db: Queryable, limit: number): Promise<MarkRow[]> {
  const { rows } = await db.query<MarkRow>(
    `SELECT id, environment, customer_id AS "customerId", meter_key AS "meterKey", from_at AS "from", position
       FROM settlement_marks ORDER BY id LIMIT $1`,
    [limit],
  );
  return rows;
}

export async function removeMarks(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query('DELETE FROM settlement_marks WHERE id = ANY ($1)', [ids]);
}

/** A mark for everybody is done up to this customer. */
export async function advanceMark(db: Queryable, id: number, position: string): Promise<void> {
  await db.query('UPDATE settlement_marks SET position = $2 WHERE id = $1', [id, position]);
}
