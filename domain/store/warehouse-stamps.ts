import type { Pool } from 'pg';
import type { WarehouseStamp } from '../../infra/ports/warehouse-stamps.ts';

/** Of the warehouse that this database belongs to; undefined before the first load. */
export async function readKnownStamp(pool: Pool): Promise<WarehouseStamp | undefined> {
  const { rows } = await pool.query<WarehouseStamp>('SELECT id, stamp FROM warehouse_stamps');
  return rows[0];
}

/** Makes it the one of this database; of several processes that do so at once the first. */
export async function adoptWarehouse(pool: Pool, id: string): Promise<void> {
  await pool.query('INSERT INTO warehouse_stamps (id, stamp) VALUES ($1, 0) ON CONFLICT DO NOTHING', [id]);
}

/** The warehouse has this stamp durably. Others may have recorded a later one. */
export async function recordStamp(pool: Pool, { id, stamp }: WarehouseStamp): Promise<void> {
  await pool.query('UPDATE warehouse_stamps SET stamp = greatest(stamp, $2) WHERE id = $1', [id, stamp]);
}
