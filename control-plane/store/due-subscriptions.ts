import type { Database } from '../http/request-context.ts';

/** A subscription with something due at that time: the end of its trial or period, or its cancellation. */
export interface DueSubscription {
  environment: string;
  id: string;
  dueAt: Date;
}

/** A position in the order of due times. */
export type DuePlace = Pick<DueSubscription, 'id' | 'dueAt'>;

/** The position before every subscription. */
export const FROM_THE_START: DuePlace = { id: '', dueAt: new Date(0) };

/**
 * Cancellations and ends of trials, of all environments: the longest due first, after a given position. What
 * the processor reports itself is due after its grace.
 */
export async function findDueEnds(
  db: Database,
  { now, graceMs }: EndsUntil,
  after: DuePlace,
  limit: number,
): Promise<DueSubscription[]> {
  const graced = (time: Date) => new Date(time.getTime() - graceMs);
  const { rows } = await db.query<DueSubscription>(
    `WITH due AS (
       (SELECT environment, id, trial_end AS due_at FROM subscriptions
         WHERE status = 'trialing' AND processor_subscription_id IS NULL
           AND trial_end <= $1 AND (trial_end, id) > ($2, $3)
         ORDER BY trial_end, id LIMIT $4)
       UNION ALL
       (SELECT environment, id, trial_end + $7 * interval '1 ms' FROM subscriptions
         WHERE status = 'trialing' AND processor_subscription_id IS NOT NULL AND NOT processor_simulated
           AND trial_end <= $5 AND (trial_end, id) > ($6, $3)
         ORDER BY trial_end, id LIMIT $4)
       UNION ALL
       (SELECT environment, id, cancel_at FROM subscriptions
         WHERE cancel_at IS DISTINCT FROM processor_cancel_at
           AND cancel_at <= $1 AND status NOT IN ('canceled', 'incomplete_expired')
           AND (cancel_at, id) > ($2, $3)
         ORDER BY cancel_at, id LIMIT $4)
       UNION ALL
       (SELECT environment, id, cancel_at + $7 * interval '1 ms' FROM subscriptions
         WHERE cancel_at = processor_cancel_at AND NOT processor_simulated
           AND cancel_at <= $5 AND status NOT IN ('canceled', 'incomplete_expired')
           AND (cancel_at, id) > ($6, $3)
         ORDER BY cancel_at, id LIMIT $4)
     )
     SELECT environment, id, min(due_at) AS "dueAt" FROM due
      GROUP BY environment, id ORDER BY "dueAt", id LIMIT $4`,
    [now, after.dueAt, after.id, limit, graced(now), graced(after.dueAt), graceMs],
  );
  return rows;
}

/** The time up to which changes are due, and the grace of the processor. */
export interface EndsUntil {
  now: Date;
  graceMs: number;
}

/** Periods to be rolled, ordered as above. */
export async function findDueRolls(
  db: Database,
  now: Date,
  after: DuePlace,
  limit: number,
): Promise<DueSubscription[]> {
  const { rows } = await db.query<DueSubscription>(
    `SELECT environment, id, rolls_at AS "dueAt" FROM subscriptions
      WHERE processor_subscription_id IS NULL AND rolls_at <= $1
        AND status NOT IN ('canceled', 'incomplete_expired') AND (rolls_at, id) > ($2, $3)
      ORDER BY rolls_at, id LIMIT $4`,
    [now, after.dueAt, after.id, limit],
  );
  return rows;
}

/** When the next change is due, in any environment. */
export async function nextDueAt(db: Database, graceMs: number): Promise<Date | undefined> {
  const { rows } = await db.query<{ dueAt: Date | null }>(
    `SELECT least(
       (SELECT min(trial_end) FROM subscriptions
         WHERE status = 'trialing' AND processor_subscription_id IS NULL),
       (SELECT min(trial_end) FROM subscriptions
         WHERE status = 'trialing' AND processor_subscription_id IS NOT NULL AND NOT processor_simulated)
         + $1 * interval '1 ms',
       (SELECT min(cancel_at) FROM subscriptions
         WHERE cancel_at IS DISTINCT FROM processor_cancel_at
           AND status NOT IN ('canceled', 'incomplete_expired')),
       (SELECT min(cancel_at) FROM subscriptions
         WHERE cancel_at = processor_cancel_at AND NOT processor_simulated
           AND status NOT IN ('canceled', 'incomplete_expired')) + $1 * interval '1 ms',
       (SELECT min(rolls_at) FROM subscriptions
         WHERE processor_subscription_id IS NULL AND status NOT IN ('canceled', 'incomplete_expired'))
     ) AS "dueAt"`,
    [graceMs],
  );
  return rows[0]?.dueAt ?? undefined;
}
