import { rowsBy } from '../../domain/store/rows-by.ts';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { Interval } from '../../schemas/value-sets.ts';
import type { Database } from '../http/request-context.ts';

/** What a subscription pays for from a time on. */
export interface SubscriptionTermRow {
  startsAt: Date;
  isCharged: boolean;
  planId: string;
  /** Where it is pinned. */
  planVersion: number | null;
  addons: Array<{ addonId: string; quantity: number }>;
  anchor: Date;
  interval: Interval;
  intervalCount: number;
  legacyIntervalMs: number | null;
  /** The billing period, where it is none of the lattice of the anchor. */
  period: Span | null;
}

/**
 * A change that is reported late begins with the last term that has begun: what was recorded before it stays.
 * $1 is the subscription, $2 now.
 */
const REPLACE = `
  WITH named AS (
    SELECT DISTINCT ON (starts_at) *
      FROM (SELECT greatest(n.starts_at, (SELECT max(starts_at) FROM subscription_terms
                                           WHERE subscription_id = $1 AND starts_at <= $2)) AS starts_at,
                   n.is_charged, n.plan_id, n.plan_version, n.addons, n.anchor, n.interval, n.interval_count,
                   n.legacy_interval_ms, n.period_start, n.period_end, n.place
              FROM jsonb_to_recordset($3) AS n (starts_at timestamptz, is_charged boolean, plan_id text,
                plan_version integer, addons jsonb, anchor timestamptz, interval text,
                interval_count integer, legacy_interval_ms bigint, period_start timestamptz,
                period_end timestamptz, place integer)) moved
     ORDER BY starts_at, place DESC),
  gone AS (
    DELETE FROM subscription_terms
     WHERE subscription_id = $1 AND starts_at > (SELECT min(starts_at) FROM named)
       AND starts_at NOT IN (SELECT starts_at FROM named))
  INSERT INTO subscription_terms (subscription_id, starts_at, is_charged, plan_id, plan_version, addons,
                                  anchor, interval, interval_count, legacy_interval_ms, period_start,
                                  period_end)
  SELECT $1, starts_at, is_charged, plan_id, plan_version, addons, anchor, interval, interval_count,
         legacy_interval_ms, period_start, period_end
    FROM named
  ON CONFLICT (subscription_id, starts_at) DO UPDATE
    SET (is_charged, plan_id, plan_version, addons, anchor, interval, interval_count, legacy_interval_ms,
         period_start, period_end)
      = (excluded.is_charged, excluded.plan_id, excluded.plan_version, excluded.addons, excluded.anchor,
         excluded.interval, excluded.interval_count, excluded.legacy_interval_ms, excluded.period_start,
         excluded.period_end)`;

/** Replaces what is recorded from the first of these terms on. The subscription is locked. */
export async function replaceSubscriptionTerms(
  db: Database,
  subscriptionId: string,
  { terms, now }: { terms: readonly SubscriptionTermRow[]; now: Date },
): Promise<void> {
  const rows = terms.map((term, place) => ({
    starts_at: term.startsAt,
    is_charged: term.isCharged,
    plan_id: term.planId,
    plan_version: term.planVersion,
    addons: term.addons,
    anchor: term.anchor,
    interval: term.interval,
    interval_count: term.intervalCount,
    legacy_interval_ms: term.legacyIntervalMs,
    period_start: term.period && new Date(term.period.fromMs),
    period_end: term.period && new Date(term.period.toMs),
    place,
  }));
  await db.query(REPLACE, [subscriptionId, now, JSON.stringify(rows)]);
}

/**
 * The first term of a subscription that has none: a process of the release before wrote it during an upgrade.
 */
export async function insertFirstTerm(
  db: Database,
  subscriptionId: string,
  { startsAt, isCharged, planId, planVersion, addons, period, ...cycle }: SubscriptionTermRow,
): Promise<void> {
  await db.query(
    `INSERT INTO subscription_terms (subscription_id, starts_at, is_charged, plan_id, plan_version, addons,
                                     anchor, interval, interval_count, legacy_interval_ms, period_start,
                                     period_end)
     SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
      WHERE NOT EXISTS (SELECT FROM subscription_terms WHERE subscription_id = $1)`,
    [
      ...[subscriptionId, startsAt, isCharged, planId, planVersion, JSON.stringify(addons)],
      ...[cycle.anchor, cycle.interval, cycle.intervalCount, cycle.legacyIntervalMs],
      ...[period && new Date(period.fromMs), period && new Date(period.toMs)],
    ],
  );
}

const MS = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;

const PERIOD = `CASE WHEN period_start IS NOT NULL THEN
  json_build_object('fromMs', ${MS('period_start')}, 'toMs', ${MS('period_end')}) END`;

/** In the order of time. `subscriptionId` was read under its environment. */
export async function listSubscriptionTerms(
  db: Database,
  subscriptionId: string,
): Promise<SubscriptionTermRow[]> {
  const { rows } = await db.query<SubscriptionTermRow>(
    `SELECT starts_at AS "startsAt", is_charged AS "isCharged", plan_id AS "planId",
            plan_version AS "planVersion", addons, anchor, interval, interval_count AS "intervalCount",
            legacy_interval_ms AS "legacyIntervalMs", ${PERIOD} AS period
       FROM subscription_terms WHERE subscription_id = $1 ORDER BY starts_at`,
    [subscriptionId],
  );
  return rows;
}

/** A subscription with what it pays for, and its period. */
export interface PayingSubscription extends Omit<SubscriptionTermRow, 'startsAt' | 'period'> {
  id: string;
  customerId: string;
  startsMs: number;
  currentPeriodStart: Date;
  currentPeriodEnd: Date;
  /** In the order of time; empty where a process of the release before wrote it and nothing has changed. */
  terms: Array<Omit<SubscriptionTermRow, 'startsAt' | 'anchor'> & { startsMs: number; anchorMs: number }>;
}

/** Changes of one subscription that are read, the newest ones. */
const TERMS_MAX = 5_000;

const PAYING = `s.id, s.customer_id AS "customerId", ${MS('s.starts_at')} AS "startsMs",
  s.status IN ('active', 'past_due') AS "isCharged", s.plan_id AS "planId", s.plan_version AS "planVersion",
  (SELECT coalesce(json_agg(json_build_object('addonId', addon_id, 'quantity', quantity)), '[]')
     FROM subscription_addons WHERE subscription_id = s.id) AS addons,
  s.anchor, s.interval, s.interval_count AS "intervalCount", s.legacy_interval_ms AS "legacyIntervalMs",
  s.current_period_start AS "currentPeriodStart", s.current_period_end AS "currentPeriodEnd",
  (SELECT coalesce(json_agg(json_build_object('startsMs', ${MS('t.starts_at')}, 'isCharged', t.is_charged,
            'planId', t.plan_id, 'planVersion', t.plan_version, 'addons', t.addons,
            'anchorMs', ${MS('t.anchor')}, 'interval', t.interval, 'intervalCount', t.interval_count,
            'legacyIntervalMs', t.legacy_interval_ms, 'period', ${PERIOD}) ORDER BY t.starts_at), '[]')
     FROM (SELECT * FROM subscription_terms WHERE subscription_id = s.id
            ORDER BY starts_at DESC LIMIT ${TERMS_MAX}) t) AS terms`;

/** One subscription, whatever its status. */
export async function findPaying(
  db: Database,
  environment: string,
  id: string,
): Promise<PayingSubscription | undefined> {
  const { rows } = await db.query<PayingSubscription>(
    `SELECT ${PAYING} FROM subscriptions s WHERE s.environment = $1 AND s.id = $2`,
    [environment, id],
  );
  return rows[0];
}

/** Which ones: that had not ended at a time, or in whose billing period this time is. */
export type PayingTime = { since: Date } | { now: Date };

/** Subscriptions of these customers, oldest first by customer. */
export async function listPaying(
  db: Database,
  environment: string,
  { customerIds, limit, ...time }: { customerIds: readonly string[]; limit: number } & PayingTime,
): Promise<PayingSubscription[]> {
  const isNow = 'now' in time;
  const { rows } = await db.query<PayingSubscription>(
    `SELECT ${PAYING}
       FROM unnest($2::text[]) AS named (id) JOIN ${rowsBy('subscriptions', 'customer_id', 'named.id')} s
         ON s.environment = $1
      WHERE s.status NOT IN ('canceled', 'incomplete_expired')
         OR CASE WHEN $5 THEN s.status_since > s.current_period_start AND s.current_period_end > $3
                 ELSE s.status_since > $3 END
      ORDER BY s.customer_id, s.created_at, s.id LIMIT $4`,
    [environment, customerIds, isNow ? time.now : time.since, limit, isNow],
  );
  return rows;
}
