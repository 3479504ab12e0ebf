import type { Pool } from 'pg';
import { inTransaction } from '../infra/postgres/pool.ts';
import { markUnqueued, unqueueDisabled } from './store/hold-disabled.ts';

/** Of each endpoint, in one transaction. */
const OF_EACH = 1_000;

/**
 * Deliveries of endpoints that were disabled are held, those of deleted endpoints have failed: some of
 * each endpoint. Gives how many it were; none: all is done.
 */
export function holdDisabled(pool: Pool, now: Date): Promise<number> {
  return inTransaction(pool, async (db) => {
    const rows = await unqueueDisabled(db, now, OF_EACH);
    if (rows.length > 0) await markUnqueued(db, rows);
    return rows.length;
  });
}
