import { DatabaseError, type Pool } from 'pg';
import { Fatal, Transient } from '../../schemas/failures.ts';
import { throwTransient } from '../postgres/unavailable.ts';

const HOUR_MS = 3_600_000;

/**
 * Refuses a window that is longer than one that the store was used with (Fatal `bad_configuration`): older
 * keys were swept, and a replay of theirs would be neither known nor looked up where the events are, but
 * counted a second time. The row of the store has to be there.
 */
export async function claimWindow(pool: Pool, name: string, windowMs: number): Promise<void> {
  const { rows } = await pool
    .query<{ windowMs: number }>(
      `UPDATE key_stores SET window_ms = least(window_ms, $2) WHERE name = $1
       RETURNING window_ms::float8 AS "windowMs"`,
      [name, windowMs],
    )
    .catch(throwUnmigrated)
    .catch(throwTransient);
  const usedMs = rows[0]?.windowMs ?? windowMs;
  if (usedMs >= windowMs) return;
  throw new Fatal(
    'bad_configuration',
    `Bad configuration: HOT_WINDOW_HOURS is ${windowMs / HOUR_MS}, and the keys of REDIS_URL were used ` +
      `with ${usedMs / HOUR_MS}: replays of older events would be counted twice. Set it to that, or to less.`,
  );
}

/** Whoever migrates may begin after us. */
function throwUnmigrated(error: unknown): never {
  if (!(error instanceof DatabaseError) || error.code !== '42703') throw error; // undefined_column
  throw new Transient('database_unavailable', 'A control plane has to migrate the database first.');
}
