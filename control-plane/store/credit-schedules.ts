import type { Database } from '../http/request-context.ts';
import type { PlanVersion } from './plan-entitlements.ts';

/** A subscription whose next grant time alone makes due. */
export interface CreditSchedule {
  environment: string;
  subscriptionId: string;
  dueAt: Date;
}

/** Of a locked subscription. */
export async function findCreditSchedule(db: Database, subscriptionId: string): Promise<Date | undefined> {
  const { rows } = await db.query<{ dueAt: Date }>(
    'SELECT due_at AS "dueAt" FROM credit_schedules WHERE subscription_id = $1',
    [subscriptionId],
  );
  return rows[0]?.dueAt;
}

/** Of a locked subscription: when the next grant is due by time alone; and since when its last term holds. */
export async function readGrantingSince(
  db: Database,
  subscriptionId: string,
  now: Date,
): Promise<{ scheduledMs: number | undefined; heldFromMs: number }> {
  const { rows } = await db.query<{ dueAt: Date | null; heldFrom: Date | null }>(
    `SELECT (SELECT due_at FROM credit_schedules WHERE subscription_id = $1) AS "dueAt",
            (SELECT max(starts_at) FROM subscription_terms
              WHERE subscription_id = $1 AND starts_at <= $2) AS "heldFrom"`,
    [subscriptionId, now],
  );
  const [{ dueAt, heldFrom } = { dueAt: null, heldFrom: null }] = rows;
  return { scheduledMs: dueAt?.getTime(), heldFromMs: heldFrom?.getTime() ?? 0 };
}

/** Of a locked subscription; undefined: time alone makes nothing due. */
export async function writeCreditSchedule(
  db: Database,
  environment: string,
  { subscriptionId, dueAt }: { subscriptionId: string; dueAt: Date | undefined },
): Promise<void> {
  if (!dueAt) {
    await db.query('DELETE FROM credit_schedules WHERE environment = $1 AND subscription_id = $2', [
      environment,
      subscriptionId,
    ]);
    return;
  }
  await db.query(
    `INSERT INTO credit_schedules (subscription_id, environment, due_at) VALUES ($1, $2, $3)
     ON CONFLICT (subscription_id) DO UPDATE SET due_at = excluded.due_at`,
    [subscriptionId, environment, dueAt],
  );
}

/** Has the subscriptions of a changed plan looked at, which find their next time then. The plan is locked. */
export async function scheduleSubscribers(
  db: Database,
  environment: string,
  { planId, version, dueAt }: PlanVersion & { dueAt: Date },
): Promise<void> {
  await db.query(
    `INSERT INTO credit_schedules (subscription_id, environment, due_at)
     SELECT id, environment, $4 FROM subscriptions
      WHERE environment = $1 AND plan_id = $2 AND (plan_version IS NULL OR plan_version = $3)
        AND status IN ('trialing', 'active')
     ON CONFLICT (subscription_id) DO NOTHING`,
    [environment, planId, version, dueAt],
  );
}

/** Of all environments, the longest due first, but for these subscriptions. */
export async function findDueSchedules(
  db: Database,
  now: Date,
  { except, limit }: { except: readonly string[]; limit: number },
): Promise<CreditSchedule[]> {
  const { rows } = await db.query<CreditSchedule>(
    `SELECT environment, subscription_id AS "subscriptionId", due_at AS "dueAt" FROM credit_schedules
      WHERE due_at <= $1 AND subscription_id <> ALL ($2)
      ORDER BY due_at, subscription_id LIMIT $3`,
    [now, except, limit],
  );
  return rows;
}

/** In any environment. */
export async function nextScheduleAt(db: Database): Promise<Date | undefined> {
  const { rows } = await db.query<{ dueAt: Date | null }>(
    'SELECT min(due_at) AS "dueAt" FROM credit_schedules',
  );
  return rows[0]?.dueAt ?? undefined;
}
