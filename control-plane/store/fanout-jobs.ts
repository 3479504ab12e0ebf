/** Changes that touch many customers, one row each until all of them are processed. */
import { CHANNELS } from '../../schemas/stored/channels.ts';
import type { Database } from '../http/request-context.ts';

export interface FanoutJob {
  environment: string;
  scope: FanoutScope;
  /** Id of the plan or add-on; for a deleted or moved feature its key, a blank and its former meter. */
  target: string;
  /** All customers up to this position are processed. */
  position: string;
  /** The customers from the start up to here are processed a second time; '' is none. */
  roundTo: string;
  /** The second pass is running. */
  isRound: boolean;
  /** Raised when the target has changed again. */
  revision: number;
  /** When it changed last. */
  changedAt: Date;
}

export type FanoutScope = 'plan' | 'addon' | 'feature' | 'past_due';

/**
 * If a job for the target is running already, the customers it has processed are processed again after the
 * others: so every customer is reached, however often the target changes.
 */
export async function requestFanout(
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

/** The job, of any environment, that was worked on longest ago. */
export async function nextFanout(db: Database): Promise<FanoutJob | undefined> {
  const { rows } = await db.query<FanoutJob>(
    `SELECT environment, scope, target, position, round_to AS "roundTo", is_round AS "isRound", revision,
            changed_at AS "changedAt"
       FROM fanout_jobs ORDER BY worked_at, environment, scope, target LIMIT 1`,
  );
  return rows[0];
}

/**
 * Records the position. If the target has changed since the job was read, it is unknown whether the last
 * customers were processed before or after that change: they are processed again.
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

/** Starts the second pass: up to `round_to`, or over all where the target has changed since. */
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

/** Moves the job behind the others, unchanged. */
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

/** How many there are, and when the oldest was requested. */
export async function countFanouts(db: Database): Promise<{ jobs: number; oldestAt: Date | null }> {
  const { rows } = await db.query<{ jobs: number; oldestAt: Date | null }>(
    'SELECT count(*) AS jobs, min(asked_at) AS "oldestAt" FROM fanout_jobs',
  );
  return rows[0] ?? { jobs: 0, oldestAt: null };
}

/** Wakes the change notifier when this transaction commits. */
export async function notifyFanout(db: Database): Promise<void> {
  await db.query(`SELECT pg_notify($1, '')`, [CHANNELS.fanoutRequested]);
}
