import type { Pool, PoolClient } from 'pg';

/**
 * Inserts of several partitions run beside each other; one that makes a block whole runs alone. It
 * compares hours with their events and makes anew those that differ: in the middle of somebody else's
 * insert, whose events are in and whose hours are not yet, they would then be counted twice (seen: 0.8 %
 * too much of 200,000 events, on a machine so busy that inserts took too long). By a lock of the session,
 * which ends with its process. Throws what Postgres throws when it is waited for too long.
 *
 * A process that stands still in the middle of an insert, or whose machine is gone, would keep the others
 * out for as long as Postgres believes in it: after `heldMaxMs` its session ends. What it may still have
 * under way is looked for by whoever is alone then. Not who is alone himself: nobody could see what he is
 * about.
 */
export async function throughInsertGate<T>(
  pool: Pool,
  { logId, alone, heldMaxMs = HELD_MAX_MS }: { logId: string; alone: boolean; heldMaxMs?: number },
  insert: () => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let left = false;
  try {
    await client.query(alone ? ENTER_ALONE : ENTER, [logId, alone ? '0' : String(heldMaxMs)]);
    const done = await insert();
    left = await leave(client);
    return done;
  } finally {
    // A session that could not leave, or was never let in, ends: it must not hold the gate.
    client.release(!left);
  }
}

/** Longer than an insert may take. */
const HELD_MAX_MS = 30_000;
const ENTER = `SELECT set_config('idle_session_timeout', $2, false),
                      pg_advisory_lock_shared(hashtextextended($1, 1))`;
const ENTER_ALONE = `SELECT set_config('idle_session_timeout', $2, false),
                            pg_advisory_lock(hashtextextended($1, 1))`;
const LEAVE = `SELECT pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false)`;

async function leave(client: PoolClient): Promise<boolean> {
  return await client.query(LEAVE).then(
    () => true,
    () => false,
  );
}
