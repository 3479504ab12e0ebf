import { DatabaseError, type Pool } from 'pg';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { throwTransient } from '../postgres/unavailable.ts';

const HOUR_MS = 3_600_000;

export interface KeyTimes {
  windowMs: number;
  /** So far an event may lie ahead of its createdAt. */
  aheadMs: number;
}

/**
 * Records how the store is used, and returns how far ahead any event in it may be: keys that were made while
 * events could be further ahead are needed for as long as they were then. Rejects a window that is longer
 * than one that the store was used with (Fatal `bad_configuration`): older keys were swept, and a replay of
 * theirs would be neither known nor searched for in ClickHouse, but counted a second time. A store without a
 * row was never used: nothing is recorded.
 */
export async function claimWindow(
  pool: Pool,
  name: string,
  { windowMs, aheadMs }: KeyTimes,
): Promise<number> {
  const { rows } = await pool
    .query<KeyTimes>(
      `UPDATE key_stores SET window_ms = least(window_ms, $2), ahead_ms = greatest(ahead_ms, $3)
       WHERE name = $1
       RETURNING window_ms::float8 AS "windowMs", ahead_ms::float8 AS "aheadMs"`,
      [name, windowMs, aheadMs],
    )
    .catch(throwUnmigrated)
    .catch(throwTransient);
  const used = rows[0] ?? { windowMs, aheadMs };
  if (used.windowMs >= windowMs) return used.aheadMs;
  throw new Fatal(
    'bad_configuration',
    `Bad configuration: HOT_WINDOW_HOURS is ${windowMs / HOUR_MS}, and the keys of REDIS_URL were used ` +
      `with ${used.windowMs / HOUR_MS}: replays of older events would be counted twice. Set it to that, or ` +
      'to less.',
  );
}

/** The process that migrates may begin after us. */
function throwUnmigrated(error: unknown): never {
  if (!(error instanceof DatabaseError) || error.code !== '42703') throw error; // undefined_column
  throw new Transient('database_unavailable', 'A control plane has to migrate the database first.');
}
