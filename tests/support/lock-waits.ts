import type { Pool } from 'pg';

/** How many sessions of the pool's database wait for a lock. */
export async function lockWaits(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ waiting: number }>(
    `SELECT count(*) AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows[0]?.waiting ?? 0;
}

/** Every read of a table waits until it is released. */
export async function lockOut(pool: Pool, table: string): Promise<() => Promise<void>> {
  const rival = await pool.connect();
  await rival.query('BEGIN');
  await rival.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return async () => {
    await rival.query('ROLLBACK');
    rival.release();
  };
}
