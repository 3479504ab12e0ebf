/**
 * Whom a change that touches many customers touches, in an order that a later look can go on with. Somebody
 * may come twice, by two subscriptions. Whoever joins after the change has seen it anyway.
 */
import { rowsBy } from '../../infra/store/rows-by.ts';
import type { Database } from '../request-context.ts';
import type { FanoutJob, FanoutScope } from './fanout-jobs.ts';

export interface FanoutMember {
  /** Grows from one to the next. */
  place: string;
  customerId: string;
}

type MembersOf = (db: Database, job: FanoutJob, limit: number) => Promise<FanoutMember[]>;

/** Behind the job's position, and on its second way no further than that goes. */
export const FANOUT_MEMBERS: Record<FanoutScope, MembersOf> = {
  plan: membersOfPlan,
  addon: membersOfAddon,
  feature: membersOfFeature,
  past_due: pastDueMembers,
};

/** Whoever is pinned to a version of the plan stays with that. */
async function membersOfPlan(db: Database, job: FanoutJob, limit: number): Promise<FanoutMember[]> {
  const { rows } = await db.query<FanoutMember>(
    `SELECT DISTINCT customer_id AS place, customer_id AS "customerId" FROM subscriptions
      WHERE environment = $1 AND plan_id = $2 AND plan_version IS NULL
        AND status NOT IN ('canceled', 'incomplete_expired')
        AND customer_id > $3 AND ($4::text IS NULL OR customer_id <= $4)
      ORDER BY customer_id LIMIT $5`,
    [job.environment, job.target, ...placesOf(job), limit],
  );
  return rows;
}

async function membersOfAddon(db: Database, job: FanoutJob, limit: number): Promise<FanoutMember[]> {
  const { rows } = await db.query<FanoutMember>(
    `SELECT sa.subscription_id AS place, s.customer_id AS "customerId"
       FROM subscription_addons sa
       JOIN ${rowsBy('subscriptions', 'id', 'sa.subscription_id')} s ON s.environment = $1
      WHERE sa.addon_id = $2 AND sa.subscription_id > $3 AND ($4::text IS NULL OR sa.subscription_id <= $4)
      ORDER BY sa.subscription_id LIMIT $5`,
    [job.environment, job.target, ...placesOf(job), limit],
  );
  return rows;
}

/** Who gave it is forgotten; who had it was told so. */
async function membersOfFeature(db: Database, job: FanoutJob, limit: number): Promise<FanoutMember[]> {
  const { rows } = await db.query<FanoutMember>(
    `SELECT customer_id AS place, customer_id AS "customerId" FROM entitlements_told
      WHERE environment = $1 AND told ? $2
        AND customer_id > $3 AND ($4::text IS NULL OR customer_id <= $4)
      ORDER BY customer_id LIMIT $5`,
    [job.environment, job.target, ...placesOf(job), limit],
  );
  return rows;
}

async function pastDueMembers(db: Database, job: FanoutJob, limit: number): Promise<FanoutMember[]> {
  const { rows } = await db.query<FanoutMember>(
    `SELECT DISTINCT customer_id AS place, customer_id AS "customerId" FROM subscriptions
      WHERE environment = $1 AND status = 'past_due'
        AND customer_id > $2 AND ($3::text IS NULL OR customer_id <= $3)
      ORDER BY customer_id LIMIT $4`,
    [job.environment, ...placesOf(job), limit],
  );
  return rows;
}

function placesOf({ position, roundTo, isRound }: FanoutJob): [after: string, upTo: string | null] {
  return [position, isRound ? roundTo : null];
}
