import type { Pool, PoolClient } from 'pg';
import type { Mutex } from '../../infra/platform/mutex.ts';
import { Transient } from '../../schemas/failures.ts';
import { waitForLock } from '../store/wait-for-lock.ts';

/**
 * Runs an insert under the insert lock. Inserts of several partitions share the lock and run concurrently; a
 * repair block takes it exclusively. A repair compares hours with their events and rewrites those that
 * differ. In the middle of another insert, whose events are stored and whose hours are not yet, it would
 * count those events twice (seen: 0.8 % too much of 200,000 events, on a machine so busy that inserts took
 * too long). It is a Postgres session lock, which ends with its process. Throws Transient
 * `insert_gate_busy` when it waits for the lock for too long.
 *
 * A process that hangs in the middle of an insert would block the others. So its session ends after
 * `heldMaxMs` without a statement, and the session of a host that is down ends after 20 s. The next exclusive
 * holder looks for inserts that such a process left running. An exclusive holder sends many statements and
 * calls `checkLock` before each write: it throws Transient `insert_gate_lost` when others may hold the lock
 * by now. The function throws the same when others may have entered before the work was done, for whatever
 * reason the session ended.
 *
 * Each waiting insert uses a connection. The inserts of one process wait one at a time, by the mutex
 * `entering`; the order stays the same. Otherwise all connections could wait for the lock, and none would be
 * left to renew the leases.
 */
export async function withInsertLock<T>(
  pool: Pool,
  { entering = (work) => work(), ...options }: LockOptions & { entering?: Mutex },
  insert: (checkLock: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const client = await entering(() => enter(pool, options));
  let left = false;
  try {
    const done = await insert(() => queryLock(client));
    left = await leave(client);
    // An exclusive holder may have rewritten hours between our events and our hours. They would be counted
    // twice permanently unless this block is repaired as well.
    if (!left) throw new Transient('insert_gate_lost', 'Others may have inserted meanwhile.');
    return done;
  } finally {
    // A session that could not release the lock ends: it must not keep the lock.
    client.release(!left);
  }
}

interface LockOptions {
  logId: string;
  alone: boolean;
  heldMaxMs?: number;
  waitMaxMs?: number;
}

async function enter(
  pool: Pool,
  { logId, alone, heldMaxMs = alone ? ALONE_MAX_MS : HELD_MAX_MS, waitMaxMs = WAIT_MAX_MS }: LockOptions,
): Promise<PoolClient> {
  const client = await pool.connect();
  try {
    // The lock belongs to the session and is taken in a transaction: only this statement may wait so long.
    await client.query('BEGIN');
    // mutant: repaired-during-inserts, gate-held-for-ever
    await waitForLock(client, [alone ? ENTER_ALONE : ENTER, [logId, String(heldMaxMs)]], {
      waitMaxMs,
      busyCode: 'insert_gate_busy',
    });
    await client.query('COMMIT');
    return client;
  } catch (error) {
    // A session that did not get the lock ends too: it could get it later.
    client.release(true);
    throw error;
  }
}

/** Longer than an insert may take. */
const HELD_MAX_MS = 30_000;
/** Longer than the read and the write of a repair block, a minute each. */
const ALONE_MAX_MS = 150_000;
/** Longer than either. */
const WAIT_MAX_MS = 180_000;
/** By default Postgres checks only after two hours whether the other end is there. */
const WATCHED = `set_config('idle_session_timeout', $2, false),
  set_config('tcp_keepalives_idle', '5', false),
  set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '3', false)`;
const ENTER = `SELECT ${WATCHED}, pg_advisory_lock_shared(hashtextextended($1, 1))`;
const ENTER_ALONE = `SELECT ${WATCHED}, pg_advisory_lock(hashtextextended($1, 1))`;
const LEAVE = `SELECT pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false)`;

/** The lock belongs to the session: a session that ended does not hold it any more. */
async function queryLock(client: PoolClient): Promise<void> {
  await client.query('SELECT 1').catch((cause: unknown) => {
    throw new Transient('insert_gate_lost', 'Others may be inserting by now.', { cause });
  });
}

async function leave(client: PoolClient): Promise<boolean> {
  return await client.query(LEAVE).then(
    () => true,
    () => false,
  );
}
