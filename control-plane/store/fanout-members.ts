/**
 * The customers that a change of many affects, in an order that a later pass can continue. A customer may
 * come twice, by two subscriptions. A customer that joins after the change has seen it anyway.
 */
import { rowsBy } from '../../domain/store/rows-by.ts';
import type { Database } from '../http/request-context.ts';
import type { FanoutJob, FanoutScope } from './fanout-jobs.ts';

export interface FanoutMember {
  /** Increases from one member to the next. */
  place: string;
  customerId: string;
}

type MembersOf = (db: Database, job: FanoutJob, limit: number) => Promise<FanoutMember[]>;

/** After the job's position, and in its second pass up to the end of that pass. */
export const FANOUT_MEMBERS: Record<FanoutScope, MembersOf> = {
  plan: membersOfPlan,
  addon: membersOfAddon,
  feature: membersOfFeature,
  past_due: pastDueMembers,
};

/** A subscription pinned to a version of the plan stays with that. */
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

/** A metered feature with the meter that it counted before the change. */
export interface ChangedFeature {
  featureKey: string;
  /** Null if it is not metered. */
  meterKey: string | null;
}

/** The target of a job for a feature. Keys have no spaces. */
export function featureTarget({ featureKey, meterKey }: ChangedFeature): string {
  return meterKey === null ? featureKey : `${featureKey} ${meterKey}`;
}

/**
 * Every customer that has the feature or had it, whatever its value: first by customer, then, after a
 * position of another kind, by subscription with an add-on that gives it.
 */
async function membersOfFeature(db: Database, job: FanoutJob, limit: number): Promise<FanoutMember[]> {
  const [after, upTo] = placesOf(job);
  const isByAddon = after.startsWith(BY_ADDON);
  const customers = isByAddon ? [] : await customersOfFeature(db, job, limit);
  if (customers.length === limit || (upTo !== null && !upTo.startsWith(BY_ADDON))) return customers;
  const left = { after: isByAddon ? after : BY_ADDON, upTo, limit: limit - customers.length };
  return [...customers, ...(await customersWithAddon(db, job, left))];
}

/** A prefix for the id of a subscription: no customer's id begins so. */
const BY_ADDON = 'addon ';

/**
 * What gave a deleted feature is forgotten. Customers with a value of it are found by their last
 * notification, and customers of a metered feature, even without a value, by the history of its meter.
 */
async function customersOfFeature(db: Database, job: FanoutJob, limit: number): Promise<FanoutMember[]> {
  const [after, upTo] = placesOf(job);
  const [featureKey, meterKey = null] = job.target.split(' ');
  const behind = `customer_id > $3 AND ($4::text IS NULL OR customer_id <= $4)
                  ORDER BY customer_id LIMIT $5`;
  const { rows } = await db.query<FanoutMember>(
    `WITH feature AS MATERIALIZED (SELECT id FROM features WHERE environment = $1 AND key = $2)
     SELECT customer_id AS place, customer_id AS "customerId" FROM (
       (SELECT customer_id FROM entitlements_told WHERE environment = $1 AND told ? $2 AND ${behind})
       UNION
       (SELECT DISTINCT customer_id FROM metered_terms
         WHERE environment = $1 AND meter_key = $6 AND ${behind})
       UNION
       SELECT s.customer_id
         FROM (SELECT DISTINCT plan_id FROM plan_entitlements JOIN feature ON id = feature_id) plan
        CROSS JOIN LATERAL (
              SELECT customer_id FROM subscriptions
               WHERE plan_id = plan.plan_id AND environment = $1 AND status <> 'canceled' AND ${behind}) s
       UNION
       (SELECT customer_id FROM overrides JOIN feature ON feature.id = feature_id
         WHERE environment = $1 AND ${behind})) held
      ORDER BY customer_id LIMIT $5`,
    [job.environment, featureKey, after, upTo?.startsWith(BY_ADDON) ? null : upTo, limit, meterKey],
  );
  return rows;
}

async function customersWithAddon(
  db: Database,
  { environment, target }: FanoutJob,
  { after, upTo, limit }: { after: string; upTo: string | null; limit: number },
): Promise<FanoutMember[]> {
  const { rows } = await db.query<FanoutMember>(
    `SELECT DISTINCT $6 || held.subscription_id AS place, s.customer_id AS "customerId"
       FROM features f
       JOIN addon_entitlements ae ON ae.feature_id = f.id
      CROSS JOIN LATERAL (
            SELECT subscription_id FROM subscription_addons
             WHERE addon_id = ae.addon_id AND subscription_id > $3
               AND ($4::text IS NULL OR subscription_id <= $4)
             ORDER BY subscription_id LIMIT $5) held
       JOIN ${rowsBy('subscriptions', 'id', 'held.subscription_id')} s ON s.environment = $1
      WHERE f.environment = $1 AND f.key = $2
      ORDER BY place LIMIT $5`,
    [
      environment,
      target.split(' ')[0],
      after.slice(BY_ADDON.length),
      upTo === null ? null : upTo.slice(BY_ADDON.length),
      limit,
      BY_ADDON,
    ],
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
