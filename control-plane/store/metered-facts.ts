import type { MeteredFacts, MeteredLimit, MeteredSource } from '../../domain/rules/metered-terms.ts';
import { longestSql } from '../../domain/store/longest-sql.ts';
import { type SourceRow, sourceOf } from '../../domain/store/metered-terms.ts';
import { rowsBy } from '../../domain/store/rows-by.ts';
import type { Database } from '../http/request-context.ts';

/** The limits and periods of a customer's meters, by subscriptions and overrides, from a time on. */
export interface TimeFacts {
  customerId: string;
  at: Date;
  /** By meter. */
  facts: ReadonlyMap<string, FoundFacts>;
}

export interface FoundFacts extends MeteredFacts {
  source: (MeteredSource & { createdAtMs: number }) | undefined;
}

/** The first time in the result is this one, or a later one: see {@link readMeteredFacts}. */
export interface FactsQuestion {
  customerId: string;
  since: Date;
}

/** How many future changes by time alone are read. Later ones are read when these have come. */
const TIMES_MAX = 16;

/** The subscription's columns, included with each grant so that the two are joined once. */
const LIVING = `living.id, living.customer_id, living.is_archived, living.status, living.starts_at,
            living.created_at, living.grace_ends`;

/**
 * `$2` and `$3` name the customers, each with the time of the change; `$4` is now. A subscription that has
 * begun by now counts at earlier times too: its period may have rolled since. A change of many is in these
 * tables before the change notifier has reached a customer (`waiting`).
 */
const FACTS = `WITH named AS (
     SELECT c.id, named.since, c.status = 'archived' AS is_archived,
            w.past_due_grace_days * interval '24 hours' AS grace
       FROM unnest($2::text[], $3::timestamptz[]) AS named (id, since)
       JOIN ${rowsBy('customers', 'id', 'named.id')} c ON c.environment = $1
       JOIN environments e ON e.id = c.environment
       JOIN workspaces w ON w.id = e.workspace_id),
   living AS (
     SELECT named.id AS customer_id, named.is_archived, s.id, s.status, s.starts_at, s.created_at,
            s.current_period_start, s.current_period_end, s.anchor, s.interval, s.interval_count,
            s.legacy_interval_ms, s.plan_id, s.plan_version,
            CASE s.status WHEN 'past_due' THEN s.status_since + named.grace END AS grace_ends
       FROM named
       JOIN ${rowsBy('subscriptions', 'customer_id', 'named.id')} s
         ON s.environment = $1 AND s.status IN ('trialing', 'active', 'past_due', 'unpaid', 'paused')),
   given AS MATERIALIZED (
     SELECT ${LIVING}, f.id AS feature_id, f.meter_key, pe.amount, pe.resets
       FROM living
       JOIN ${rowsBy('plans', 'id', 'living.plan_id')} p ON p.environment = $1
       JOIN plan_entitlements pe
         ON pe.plan_id = p.id AND pe.version = coalesce(living.plan_version, p.version)
       JOIN features f ON f.id = pe.feature_id AND f.meter_key IS NOT NULL
     UNION ALL
     SELECT ${LIVING}, f.id, f.meter_key, ae.amount * sa.quantity, ae.resets
       FROM living
       JOIN subscription_addons sa ON sa.subscription_id = living.id
       JOIN ${rowsBy('addons', 'id', 'sa.addon_id')} a ON a.environment = $1
       JOIN addon_entitlements ae ON ae.addon_id = a.id
       JOIN features f ON f.id = ae.feature_id AND f.meter_key IS NOT NULL),
   replaced AS (
     SELECT named.id AS customer_id, o.feature_id, f.meter_key, o.amount, o.resets, o.expires_at
       FROM named
       JOIN ${rowsBy('overrides', 'customer_id', 'named.id')} o ON o.environment = $1
       JOIN features f ON f.id = o.feature_id AND f.meter_key IS NOT NULL
      WHERE NOT named.is_archived),
   waiting AS MATERIALIZED (
     SELECT scope, target, changed_at FROM fanout_jobs
      WHERE environment = $1 AND changed_at <= $4 AND changed_at > (SELECT min(since) FROM named)),
   waited_for AS (
     SELECT living.customer_id, w.changed_at FROM waiting w JOIN living ON living.plan_id = w.target
      WHERE w.scope = 'plan' AND living.plan_version IS NULL
     UNION ALL
     SELECT granted.customer_id, w.changed_at
       FROM waiting w CROSS JOIN LATERAL (
              SELECT living.customer_id
                FROM living JOIN subscription_addons sa ON sa.subscription_id = living.id
               WHERE sa.addon_id = w.target OFFSET 0) granted
      WHERE w.scope = 'addon'
     UNION ALL
     SELECT named.id, w.changed_at FROM waiting w CROSS JOIN named WHERE w.scope IN ('feature', 'past_due')),
   begun AS (
     SELECT named.id, greatest(named.since, max(w.changed_at)) AS since
       FROM named LEFT JOIN waited_for w ON w.customer_id = named.id
      GROUP BY named.id, named.since),
   turns AS (
     SELECT customer_id, starts_at AS at FROM living
     UNION SELECT customer_id, grace_ends FROM living
     UNION SELECT customer_id, expires_at FROM replaced),
   times AS (
     SELECT id AS customer_id, since AS at FROM begun
     UNION ALL
     SELECT begun.id, ahead.at
       FROM begun CROSS JOIN LATERAL (
              SELECT turns.at FROM turns WHERE turns.customer_id = begun.id AND turns.at > begun.since
               ORDER BY turns.at LIMIT ${TIMES_MAX}) ahead),
   giving AS (
     SELECT m.customer_id, m.at, g.id, g.created_at, g.feature_id, g.meter_key, g.amount,
            g.resets, NOT g.is_archived AND (g.status IN ('trialing', 'active')
                                   OR coalesce(m.at < g.grace_ends, false)) AS counts
       FROM times m
       JOIN given g ON g.customer_id = m.customer_id AND g.starts_at <= greatest(m.at, $4)),
   in_force AS (
     SELECT m.customer_id, m.at, r.feature_id, r.meter_key, r.amount, r.resets
       FROM times m
       JOIN replaced r ON r.customer_id = m.customer_id
        AND (r.expires_at IS NULL OR m.at < r.expires_at)),
   resolved AS (
     SELECT customer_id, at, meter_key, feature_id,
            CASE WHEN bool_and(amount IS NOT NULL) THEN sum(amount) END AS amount,
            ${longestSql('resets')} AS resets
       FROM giving WHERE counts
      GROUP BY customer_id, at, meter_key, feature_id),
   effective AS (
     SELECT * FROM resolved
      WHERE (customer_id, at, feature_id) NOT IN (SELECT customer_id, at, feature_id FROM in_force)
     UNION ALL
     SELECT o.customer_id, o.at, o.meter_key, o.feature_id, o.amount, coalesce(o.resets, r.resets)
       FROM in_force o LEFT JOIN resolved r USING (customer_id, at, feature_id)),
   limited AS (
     SELECT customer_id, at, meter_key, bool_or(amount IS NULL) AS is_unlimited,
            coalesce(json_agg(json_build_object('amount', trim_scale(amount)::text,
                                                'resets', coalesce(resets, 'billing_period'))
                              ORDER BY amount, resets) FILTER (WHERE amount IS NOT NULL),
                     '[]') AS limits
       FROM effective GROUP BY customer_id, at, meter_key),
   sourced AS (
     SELECT DISTINCT ON (customer_id, at, meter_key) customer_id, at, meter_key, id
       FROM giving ORDER BY customer_id, at, meter_key, counts DESC, created_at, id)
   SELECT m.customer_id AS "customerId", m.at, metered.meter_key AS "meterKey",
          coalesce(metered.limits, '[]') AS limits, coalesce(metered.is_unlimited, false) AS "isUnlimited",
          l.id AS "subscriptionId", l.current_period_start AS "sourceStart",
          l.current_period_end AS "sourceEnd", l.anchor, l.interval, l.interval_count AS "intervalCount",
          l.legacy_interval_ms AS "legacyIntervalMs", l.created_at AS "createdAt"
     FROM times m
     LEFT JOIN (SELECT * FROM limited FULL JOIN sourced USING (customer_id, at, meter_key)) metered
       ON metered.customer_id = m.customer_id AND metered.at = m.at
     LEFT JOIN living l ON l.id = metered.id
    ORDER BY m.customer_id, m.at`;

/** A subscription that gives a meter its periods, with its creation time. */
interface FactsRow extends SourceRow {
  customerId: string;
  at: Date;
  meterKey: string | null;
  limits: MeteredLimit[];
  isUnlimited: boolean;
  createdAt: Date | null;
}

/**
 * For customers, at the time of the change and at the next times at which time alone changes something: by
 * customer, in the order of time. Where a later change of many is not yet recorded for a customer, the values
 * before it are no longer known: the first time is then that of this change. The rules are those of
 * domain/rules/resolve-entitlements.ts, written a second time: a customer may have a million grants.
 */
export async function readMeteredFacts(
  db: Database,
  environment: string,
  { requested, now }: { requested: readonly FactsQuestion[]; now: Date },
): Promise<TimeFacts[]> {
  const { rows } = await db.query<FactsRow>(FACTS, [
    environment,
    requested.map(({ customerId }) => customerId),
    requested.map(({ since }) => since),
    now,
  ]);
  const times: Array<TimeFacts & { facts: Map<string, FoundFacts> }> = [];
  for (const row of rows) {
    const { customerId, at, meterKey, limits, isUnlimited, createdAt } = row;
    const last = times.at(-1);
    const isSame = last?.customerId === customerId && last.at.getTime() === at.getTime();
    const time = isSame ? last : { customerId, at, facts: new Map<string, FoundFacts>() };
    if (!isSame) times.push(time);
    if (meterKey === null) continue;
    const source = sourceOf(row);
    const made = source && createdAt ? { ...source, createdAtMs: createdAt.getTime() } : undefined;
    time.facts.set(meterKey, { source: made, limits, isUnlimited });
  }
  return times;
}
