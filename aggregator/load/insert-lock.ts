import type { Pool, PoolClient } from 'pg';
import { Transient } from '../../schemas/failures.ts';
import { waitForLock } from '../store/wait-for-lock.ts';
import type { Mutex } from './mutex.ts';

/**
 * Inserts of several partitions run beside each other; one that makes a block whole runs alone. It
 * compares hours with their events and makes anew those that differ: in the middle of somebody else's
 * insert, whose events are in and whose hours are not yet, they would then be counted twice (seen: 0.8 %
 * too much of 200,000 events, on a machine so busy that inserts took too long). By a lock of the session,
 * which ends with its process. Throws Transient `insert_gate_busy` when it is waited for too long.
 *
 * A process that stands still in the middle of an insert would keep the others out for as long as it does:
 * after `heldMaxMs` without a word its session ends, and of a machine that is gone after 20 s. What it may
 * still have under way is looked for by whoever is alone then. Who is alone sends many statements, and asks
 * `stillIn` before each that writes: it throws Transient `insert_gate_lost` when others may be in by now. So
 * does this when they may have come in before it was over, for whatever reason the session ended.
 *
 * Who waits has a connection. Those of one process wait with one, `entering` in turns: they come in as they
 * asked either way, and with all connections at the gate none would be left by which leases are renewed.
 */
export async function withInsertLock<T>(
  pool: Pool,
  { entering = (work) => work(), ...options }: GateOptions & { entering?: Mutex },
  insert: (stillIn: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const client = await entering(() => enter(pool, options));
  let left = false;
  try {
    const done = await insert(() => askStillIn(client));
    left = await leave(client);
    // Somebody alone may have made hours anew between our events and our hours: they are doubled for good
    // unless this one is made whole as well.
    if (!left) throw new Transient('insert_gate_lost', 'Others may have inserted meanwhile.');
    return done;
  } finally {
    // A session that could not leave ends: it must not hold the gate.
    client.release(!left);
  }
}

interface GateOptions {
  logId: string;
  alone: boolean;
  heldMaxMs?: number;
  waitMaxMs?: number;
}

async function enter(
  pool: Pool,
  { logId, alone, heldMaxMs = alone ? ALONE_MAX_MS : HELD_MAX_MS, waitMaxMs = WAIT_MAX_MS }: GateOptions,
): Promise<PoolClient> {
  const client = await pool.connect();
  try {
    // Of the session, and taken in a transaction: so long may this one statement wait, and no other.
    await client.query('BEGIN');
    await waitForLock(client, [alone ? ENTER_ALONE : ENTER, [logId, String(heldMaxMs)]], {
      waitMaxMs,
      busyCode: 'insert_gate_busy',
    });
    await client.query('COMMIT');
    return client;
  } catch (error) {
    // Nor one that was never let in: it could come in later.
    client.release(true);
    throw error;
  }
}

/** Longer than an insert may take. */
const HELD_MAX_MS = 30_000;
/** Longer than a read and a write by which a block is made whole, a minute each. */
const ALONE_MAX_MS = 150_000;
/** Longer than either. */
const WAIT_MAX_MS = 180_000;
/** By default Postgres asks after two hours whether the other end is there. */
const WATCHED = `set_config('idle_session_timeout', $2, false),
  set_config('tcp_keepalives_idle', '5', false),
  set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '3', false)`;
const ENTER = `SELECT ${WATCHED}, pg_advisory_lock_shared(hashtextextended($1, 1))`;
const ENTER_ALONE = `SELECT ${WATCHED}, pg_advisory_lock(hashtextextended($1, 1))`;
const LEAVE = `SELECT pg_advisory_unlock_all(), set_config('idle_session_timeout', '0', false)`;

/** The session is the gate: one that ended holds it no more. */
async function askStillIn(client: PoolClient): Promise<void> {
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
