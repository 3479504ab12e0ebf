import type { Pool, PoolClient } from 'pg';

/**
 * Inserts of several partitions run beside each other; one that makes a block whole runs alone. It compares
 * hours with their events and makes anew those that differ: in the middle of somebody else's insert, whose
 * events are in and whose hours are not yet, they would then be counted twice (seen: 0.8 % too much of
 * 200,000 events, on a machine so busy that inserts took too long). By a lock of the session, which ends with
 * its process. Throws what Postgres throws when it is waited for too long.
 */
export async function throughInsertGate<T>(
  pool: Pool,
  { logId, alone }: { logId: string; alone: boolean },
  insert: () => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let left = false;
  try {
    await client.query(alone ? ENTER_ALONE : ENTER, [logId]);
    const done = await insert();
    left = await leave(client);
    return done;
  } finally {
    // A session that could not leave, or was never let in, ends: it must not hold the gate.
    client.release(!left);
  }
}

const ENTER = 'SELECT pg_advisory_lock_shared(hashtextextended($1, 1))';
const ENTER_ALONE = 'SELECT pg_advisory_lock(hashtextextended($1, 1))';

async function leave(client: PoolClient): Promise<boolean> {
  return await client.query('SELECT pg_advisory_unlock_all()').then(
    () => true,
    () => false,
  );
}
