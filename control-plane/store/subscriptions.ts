import type { PageQuery } from '../../schemas/resources/fields.ts';
import type { Interval, SubscriptionStatus } from '../../schemas/value-sets.ts';

import type { Database } from '../http/request-context.ts';
import { type List, readPage } from './read-page.ts';

/** The fields that change in the life of a subscription. */
export interface SubscriptionFields {
  planId: string;
  /** Where it is pinned. */
  planVersion: number | null;
  status: SubscriptionStatus;
  statusSince: Date;
  currentPeriodStart: Date;
  currentPeriodEnd: Date;
  /** From when on it counts. */
  startsAt: Date;
  /** The series of its periods, see domain/rules/billing-period.ts. */
  anchor: Date;
  interval: Interval;
  intervalCount: number;
  legacyIntervalMs: number | null;
  /** Null if it was never rolled. */
  noRollBefore: Date | null;
  cancelAt: Date | null;
  /** `cancelAt` is the end of the period, or of the trial, and moves with it. */
  cancelsAtPeriodEnd: boolean;
  /** The plan that it changes to at the end of the period. */
  pendingPlanId: string | null;
  canceledAt: Date | null;
  trialEnd: Date | null;
  processorSubscriptionId: string | null;
  /** The processor's own time of its last change. */
  processorChangedAt: Date | null;
  /** When the API last changed something here that the processor may change too. */
  localChangedAt: Date | null;
  /** The processor's last value of `cancelAt`. */
  processorCancelAt: Date | null;
  /** Its times are those of a test clock of the processor. */
  processorSimulated: boolean;
  /** JSON. */
  metadata: string | null;
}

export interface SubscriptionRow extends SubscriptionFields {
  id: string;
  customerId: string;
  /** The plan's present name. */
  planName: string;
  /** By id of the add-on. */
  addons: Array<{ addonId: string; quantity: number }>;
  createdAt: Date;
}

const COLUMNS = `id, customer_id AS "customerId", plan_id AS "planId",
  (SELECT name FROM plans WHERE plans.id = plan_id) AS "planName", plan_version AS "planVersion", status,
  status_since AS "statusSince", current_period_start AS "currentPeriodStart",
  current_period_end AS "currentPeriodEnd", starts_at AS "startsAt", anchor, interval,
  interval_count AS "intervalCount", legacy_interval_ms AS "legacyIntervalMs",
  no_roll_before AS "noRollBefore", cancel_at AS "cancelAt", cancels_at_period_end AS "cancelsAtPeriodEnd",
  pending_plan_id AS "pendingPlanId", canceled_at AS "canceledAt", trial_end AS "trialEnd",
  processor_subscription_id AS "processorSubscriptionId", processor_changed_at AS "processorChangedAt",
  local_changed_at AS "localChangedAt", processor_cancel_at AS "processorCancelAt",
  processor_simulated AS "processorSimulated",
  metadata::text AS metadata, created_at AS "createdAt",
  (SELECT coalesce(
            json_agg(json_build_object('addonId', addon_id, 'quantity', quantity) ORDER BY addon_id), '[]')
     FROM subscription_addons WHERE subscription_id = subscriptions.id) AS addons`;

/** As they are in both statements that write. */
const FIELDS = `plan_id, plan_version, status, status_since, current_period_start, current_period_end,
  starts_at, anchor, interval, interval_count, legacy_interval_ms, no_roll_before, cancel_at,
  cancels_at_period_end, pending_plan_id, canceled_at, trial_end, processor_subscription_id,
  processor_changed_at, local_changed_at, processor_cancel_at, processor_simulated, metadata`;
/** From $3 to $25. */
const FIELD_VALUES = Array.from({ length: 23 }, (_, at) => `$${at + 3}`).join(', ');

/** Undefined when another subscription of the environment has the processor's id. */
export async function insertSubscription(
  db: Database,
  environment: string,
  row: SubscriptionFields & Pick<SubscriptionRow, 'id' | 'customerId' | 'createdAt'>,
): Promise<{ id: string } | undefined> {
  const { rows } = await db.query<{ id: string }>(
    `INSERT INTO subscriptions (environment, id, ${FIELDS}, customer_id, created_at, updated_at)
     VALUES ($1, $2, ${FIELD_VALUES}, $26, $27, $27)
     ON CONFLICT (environment, processor_subscription_id) DO NOTHING
     RETURNING id`,
    [environment, row.id, ...valuesOf(row), row.customerId, row.createdAt],
  );
  return rows[0];
}

export async function findSubscription(
  db: Database,
  environment: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<SubscriptionRow>(
    `SELECT ${COLUMNS} FROM subscriptions WHERE environment = $1 AND id = $2`,
    [environment, id],
  );
  return rows[0];
}

/** As {@link findSubscription}, locked with its add-ons against changes for the rest of the transaction. */
export async function lockSubscription(
  db: Database,
  environment: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  await db.query('SELECT FROM subscriptions WHERE environment = $1 AND id = $2 FOR NO KEY UPDATE', [
    environment,
    id,
  ]);
  // A second statement: it reads the add-ons as they are once it has the lock, not as they were before.
  return findSubscription(db, environment, id);
}

/** The subscription with the processor's id, locked as by {@link lockSubscription}. */
export async function lockProcessorSubscription(
  db: Database,
  environment: string,
  processorSubscriptionId: string,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM subscriptions WHERE environment = $1 AND processor_subscription_id = $2
        FOR NO KEY UPDATE`,
    [environment, processorSubscriptionId],
  );
  return rows[0] && findSubscription(db, environment, rows[0].id);
}

/** Raises a unique violation when another subscription has the processor's id. */
export async function updateSubscription(
  db: Database,
  environment: string,
  row: SubscriptionFields & { id: string },
  updatedAt: Date,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<SubscriptionRow>(
    `UPDATE subscriptions SET (${FIELDS}, updated_at) = (${FIELD_VALUES}, $26)
      WHERE environment = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [environment, row.id, ...valuesOf(row), updatedAt],
  );
  return rows[0];
}

/** For a locked one: records that its add-ons, which are separate rows, were changed through the API. */
export async function stampLocalChange(
  db: Database,
  environment: string,
  { id, at }: { id: string; at: Date },
): Promise<void> {
  await db.query('UPDATE subscriptions SET local_changed_at = $3 WHERE environment = $1 AND id = $2', [
    environment,
    id,
    at,
  ]);
}

export interface SubscriptionFilter {
  /** Id or external id. */
  customerId?: string | undefined;
  status?: SubscriptionStatus | undefined;
  /** Id or key. */
  planId?: string | undefined;
  processorSubscriptionId?: string | undefined;
}

export function listSubscriptions(db: Database, environment: string, query: PageQuery & SubscriptionFilter) {
  return readPage<SubscriptionRow>(db, subscriptionList(environment, query), query);
}

export function subscriptionList(environment: string, query: SubscriptionFilter): List {
  const values: unknown[] = [environment];
  let where = 'environment = $1';
  if (query.customerId !== undefined) {
    const name = `$${values.push(query.customerId)}`;
    where += ` AND customer_id =
      (SELECT id FROM customers WHERE environment = $1 AND (id = ${name} OR external_id = ${name}))`;
  }
  if (query.status !== undefined) where += ` AND status = $${values.push(query.status)}`;
  if (query.planId !== undefined) {
    const name = `$${values.push(query.planId)}`;
    where += ` AND plan_id = (SELECT id FROM plans WHERE environment = $1 AND (id = ${name} OR key = ${name})
                               ORDER BY (id = ${name}) DESC LIMIT 1)`;
  }
  if (query.processorSubscriptionId !== undefined) {
    where += ` AND processor_subscription_id = $${values.push(query.processorSubscriptionId)}`;
  }
  return { columns: COLUMNS, from: 'subscriptions', where, values };
}

function valuesOf(fields: SubscriptionFields): unknown[] {
  return [
    fields.planId,
    fields.planVersion,
    fields.status,
    fields.statusSince,
    fields.currentPeriodStart,
    fields.currentPeriodEnd,
    fields.startsAt,
    fields.anchor,
    fields.interval,
    fields.intervalCount,
    fields.legacyIntervalMs,
    fields.noRollBefore,
    fields.cancelAt,
    fields.cancelsAtPeriodEnd,
    fields.pendingPlanId,
    fields.canceledAt,
    fields.trialEnd,
    fields.processorSubscriptionId,
    fields.processorChangedAt,
    fields.localChangedAt,
    fields.processorCancelAt,
    fields.processorSimulated,
    fields.metadata,
  ];
}
