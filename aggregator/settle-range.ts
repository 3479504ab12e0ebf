import type { Pool } from 'pg';
import { inTransaction } from '../infra/postgres/pool.ts';
import { Transient } from '../schemas/failures.ts';
import { markSettled, type Range } from './store/ranges.ts';

/**
 * Does what follows from a loaded range, in one transaction with the mark that it was done: either both are
 * there after a crash or neither, and only the epoch that holds the range can do it.
 */
export async function settleRange(pool: Pool, range: Range): Promise<void> {
  await inTransaction(pool, async (client) => {
    // The mark first: its row lock keeps a rival out until the effects are written too.
    if (await markSettled(client, range)) return;
    throw new Transient('lease_lost', 'Another process settles this range.');
  });
}
