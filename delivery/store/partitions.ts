import type { Pool } from 'pg';

/** A day of UTC as `2026-01-31`. */
export type Day = string;

export async function makePartitions(db: Pool, firstDay: Day, days: number): Promise<void> {
  await db.query('SELECT make_webhook_partitions($1, $2)', [firstDay, days]);
}

/** Those of the days before one, with all they hold. */
export async function dropPartitions(db: Pool, keptFrom: Day): Promise<void> {
  await db.query('SELECT drop_webhook_partitions($1)', [keptFrom]);
}
