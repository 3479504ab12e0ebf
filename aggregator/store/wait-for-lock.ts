import { isTimeout } from '../../infra/postgres/unavailable.ts';
import { Transient } from '../../schemas/failures.ts';
import type { Queryable } from './queryable.ts';

/** How long after Postgres should have given up the wait we give up Postgres. */
const SILENCE_MS = 2_000;

interface LockWait {
  waitMaxMs: number;
  /** The code that is thrown after that time: Postgres is there, and others hold the lock. */
  busyCode: string;
}

/**
 * Runs a statement of a transaction that waits for a lock, which others may keep for longer than statements
 * may take. Returns its number of rows. Throws Transient with the code `busyCode`.
 */
export async function waitForLock(
  db: Queryable,
  [text, values]: readonly [text: string, values: unknown[]],
  { waitMaxMs, busyCode }: LockWait,
): Promise<number> {
  await db.query(`SELECT set_config('statement_timeout', $1, true)`, [String(waitMaxMs)]);
  // The driver's own limit, which its declarations know of whole connections only.
  const statement = { text, values, query_timeout: waitMaxMs + SILENCE_MS };
  const { rowCount } = await db.query(statement).catch((cause: unknown) => {
    if (!isTimeout(cause)) throw cause;
    throw new Transient(busyCode, 'Others have held a lock for longer than they may.', { cause });
  });
  await db.query('RESET statement_timeout');
  return rowCount ?? 0;
}
