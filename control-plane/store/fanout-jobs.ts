/** Changes that touch many customers, one row each until all of them were gone through. */
import type { Database } from '../http/request-context.ts';

export interface FanoutJob {
  environment: string;
  scope: FanoutScope;
  /** Id of the plan or add-on; of a feature that is gone or moved its key, a blank and its former meter. */
  target: string;
  /** All up to here were gone through. */
  position: string;
  /** What is gone through once more from the start up to here; '' is nothing. */
  roundTo: string;
  /** One is on this second way. */
  isRound: boolean;
  /** Another one: the target has changed again. */
  revision: number;
  /** When it changed last. */
  changedAt: Date;
}

export type FanoutScope = 'plan' | 'addon' | 'feature' | 'past_due';

/**
 * Of a target that is being gone through already, those that were reached are gone through again after the
 * others: so however often it changes, everybody's turn comes.
 */
export async function askForFanout(
  db: Database,
  environment: string,
  { scope, target, at }: { scope: FanoutScope; target: string; at: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO fanout_jobs AS was (environment, scope, target, asked_at, worked_at, changed_at)
     VALUES ($1, $2, $3, $4, $4, $4)
     ON CONFLICT (environment, scope, target) DO UPDATE
       SET round_to = was.position, is_round = false, revision = was.revision + 1, changed_at = $4`,
    [environment, scope, target, at],
  );
}

/** Of all environments, the one that was not worked at for longest. */
export async function nextFanout(db: Database): Promise<FanoutJob | undefined> {
  const { rows } = await db.query<FanoutJob>(
    `SELECT environment, scope, target, position, round_to AS "roundTo", is_round AS "isRound", revision,
            changed_at AS "changedAt"
       FROM fanout_jobs ORDER BY worked_at, environment, scope, target LIMIT 1`,
  );
  return rows[0];
}

/**
 * Up to this place. Where the target has changed since the job was read, nobody says whether those just gone
 * through were seen before it or after it: they are gone through again.
 */
export async function advanceFanout(
  db: Database,
  { environment, scope, target, revision }: FanoutJob,
  { position, at }: { position: string; at: Date },
): Promise<void> {
  await db.query(
    `UPDATE fanout_jobs
        SET position = $5, worked_at = $6,
            round_to = CASE WHEN revision = $4 THEN round_to ELSE $5 END,
            is_round = is_round AND revision = $4
      WHERE environment = $1 AND scope = $2 AND target = $3`,
    [environment, scope, target, revision, position, at],
  );
}

/** From the start once more: up to `round_to`, or all of them where the target has changed since. */
export async function beginRound(
  db: Database,
  { environment, scope, target, revision }: FanoutJob,
): Promise<void> {
  await db.query(
    `UPDATE fanout_jobs
        SET position = '', is_round = revision = $4,
            round_to = CASE WHEN revision = $4 THEN round_to ELSE '' END
      WHERE environment = $1 AND scope = $2 AND target = $3`,
    [environment, scope, target, revision],
  );
}

/** False when its target has changed since it was read. */
export async function endFanout(
  db: Database,
  { environment, scope, target, revision }: FanoutJob,
): Promise<boolean> {
  const { rowCount } = await db.query(
    'DELETE FROM fanout_jobs WHERE environment = $1 AND scope = $2 AND target = $3 AND revision = $4',
    [environment, scope, target, revision],
  );
  return rowCount === 1;
}

/** After the others, as it is. */
export async function putFanoutLast(
  db: Database,
  { environment, scope, target }: FanoutJob,
  at: Date,
): Promise<void> {
  await db.query(
    'UPDATE fanout_jobs SET worked_at = $4 WHERE environment = $1 AND scope = $2 AND target = $3',
    [environment, scope, target, at],
  );
}

/** How many there are, and when the oldest was asked for. */
export async function countFanouts(db: Database): Promise<{ jobs: number; oldestAt: Date | null }> {
  const { rows } = await db.query<{ jobs: number; oldestAt: Date | null }>(
    'SELECT count(*) AS jobs, min(asked_at) AS "oldestAt" FROM fanout_jobs',
  );
  return rows[0] ?? { jobs: 0, oldestAt: null };
}
