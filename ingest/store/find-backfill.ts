import type pg from 'pg';
import { throwTransient } from '../../infra/postgres/unavailable.ts';
import type { Rejection } from '../../schemas/error-codes.ts';

/** The number of the change, or why a session takes no usage. */
export type BackfillOutcome = number | Rejection;

/** A backfill session that usage is sent into. Throws Transient. */
export async function findBackfill(pool: pg.Pool, environment: string, id: string): Promise<BackfillOutcome> {
  const { rows } = await pool
    .query<{ number: number; state: string }>(
      `SELECT number, state FROM usage_changes WHERE id = $2 AND environment = $1 AND kind = 'backfill'`,
      [environment, id],
    )
    .catch(throwTransient);
  const [found] = rows;
  if (!found) return NOT_FOUND;
  // mutant: usage-into-a-closed-backfill
  if (found.state !== 'open') return notOpen(found.state);
  return found.number;
}

const NOT_FOUND: Rejection = {
  code: 'not_found',
  message: 'No backfill has this id in the mode of this key. Nothing was stored.',
  param: 'backfillId',
};

function notOpen(state: string): Rejection {
  const status = state === 'reverted' ? 'reverted' : 'closed';
  return {
    code: 'illegal_transition',
    message: `This backfill is ${status} and takes no more usage. Nothing was stored.`,
    param: 'backfillId',
  };
}
