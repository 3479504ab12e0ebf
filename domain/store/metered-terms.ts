import type { Pool, PoolClient } from 'pg';
import type { Interval, Resets } from '../../schemas/value-sets.ts';
import type { MeteredSource, MeteredTerm } from '../rules/metered-terms.ts';
import { notifyChanges } from './notify-change.ts';

/** The history of a customer's meters: domain/rules/metered-terms.ts. */

export interface MeterOfCustomer {
  environment: string;
  customerId: string;
  meterKey: string;
}

/** The subscription that gives periods, as it is stored; all null where none does. */
export interface SourceRow {
  subscriptionId: string | null;
  sourceStart: Date | null;
  sourceEnd: Date | null;
  anchor: Date | null;
  interval: Interval | null;
  intervalCount: number | null;
  legacyIntervalMs: number | null;
}

interface TermRow extends SourceRow, MeterOfCustomer {
  startsAt: Date;
  periodStart: Date;
  limits: string[];
  /** Of each; null in rows of earlier releases. */
  resets: Resets[] | null;
  since: Date;
  isUnlimited: boolean;
}

const COLUMNS = `t.environment, t.customer_id AS "customerId", t.meter_key AS "meterKey",
  t.starts_at AS "startsAt", t.period_start AS "periodStart",
  ARRAY (SELECT trim_scale(amount)::text FROM unnest(t.limits) AS amount) AS limits, t.resets,
  coalesce(t.since, t.period_start) AS since,
  t.is_unlimited AS "isUnlimited", t.subscription_id AS "subscriptionId", t.source_start AS "sourceStart",
  t.source_end AS "sourceEnd", t.anchor, t.interval, t.interval_count AS "intervalCount",
  t.legacy_interval_ms AS "legacyIntervalMs"`;

export type TermOfCustomer = MeteredTerm & MeterOfCustomer;

/** Terms before a period that still matter to it: a subscription that came back continues. */
const EARLIER_MAX = 6;

/**
 * The terms of one customer meter from the period of a given time on, and a few earlier ones. The table
 * `requested` has the customer meter, and the time as `begins`.
 */
const FROM_THE_PERIOD = `
  CROSS JOIN LATERAL (
         SELECT coalesce(max(period_start), requested.begins) AS begins FROM (
           SELECT period_start FROM metered_terms
            WHERE environment = requested.environment AND customer_id = requested.customer_id
              AND meter_key = requested.meter_key
               AND starts_at <= requested.begins AND period_start <= requested.begins
            ORDER BY starts_at DESC LIMIT 1) held) period
  CROSS JOIN LATERAL (
         (SELECT * FROM metered_terms
           WHERE environment = requested.environment AND customer_id = requested.customer_id
             AND meter_key = requested.meter_key AND starts_at < period.begins
           ORDER BY starts_at DESC LIMIT ${EARLIER_MAX})
         UNION ALL
         SELECT * FROM metered_terms
          WHERE environment = requested.environment AND customer_id = requested.customer_id
            AND meter_key = requested.meter_key AND starts_at >= period.begins) t
  ORDER BY t.starts_at`;

/** For these customer meters, in order: what held in the periods of their times, and later. */
export async function readMeteredTerms(
  db: Pool | PoolClient,
  requested: ReadonlyArray<MeterOfCustomer & { from: Date }>,
): Promise<TermOfCustomer[]> {
  if (requested.length === 0) return [];
  const { rows } = await db.query<TermRow>(
    `SELECT ${COLUMNS}
       FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
              AS requested (environment, customer_id, meter_key, begins) ${FROM_THE_PERIOD}`,
    [
      requested.map(({ environment }) => environment),
      requested.map(({ customerId }) => customerId),
      requested.map(({ meterKey }) => meterKey),
      requested.map(({ from }) => from),
    ],
  );
  return rows.map(termOf);
}

/** The same of all meters of these customers. */
export async function readTermsOfCustomers(
  db: Pool | PoolClient,
  environment: string,
  requested: ReadonlyArray<{ customerId: string; from: Date }>,
): Promise<TermOfCustomer[]> {
  const { rows } = await db.query<TermRow>(
    `SELECT ${COLUMNS}
       FROM (SELECT DISTINCT m.environment, m.customer_id, m.meter_key, given.begins
               FROM unnest($2::text[], $3::timestamptz[]) AS given (customer_id, begins)
               JOIN metered_terms m ON m.environment = $1 AND m.customer_id = given.customer_id
            ) AS requested ${FROM_THE_PERIOD}`,
    [environment, requested.map(({ customerId }) => customerId), requested.map(({ from }) => from)],
  );
  return rows.map(termOf);
}

/** Of one customer. */
export function termsByMeter(terms: readonly TermOfCustomer[]): Map<string, MeteredTerm[]> {
  const byMeter = new Map<string, MeteredTerm[]>();
  for (const term of terms) {
    const own = byMeter.get(term.meterKey);
    if (own) own.push(term);
    else byMeter.set(term.meterKey, [term]);
  }
  return byMeter;
}

/**
 * Replaces all that was recorded of these customer meters from their times on. Sends an invalidation for
 * these customers to every cache: a change of many reaches them after the catalogue's own invalidation.
 */
export async function replaceMeteredTerms(
  db: Pool | PoolClient,
  replaced: ReadonlyArray<MeterOfCustomer & { from: Date }>,
  terms: readonly TermOfCustomer[],
): Promise<void> {
  if (replaced.length > 0) await removeTerms(db, replaced);
  if (terms.length > 0) await insertTerms(db, terms);
  await forgetCustomers(db, [...replaced, ...terms]);
}

/** By an invalidation, and by the version that caches compare when an invalidation was lost. */
async function forgetCustomers(db: Pool | PoolClient, meters: readonly MeterOfCustomer[]): Promise<void> {
  const customers = new Map(meters.map(({ environment, customerId: id }) => [id, { environment, id }]));
  const all = [...customers.values()];
  await db.query(
    `UPDATE entitlements_told was SET version = was.version + 1
       FROM unnest($1::text[], $2::text[]) AS changed (environment, id)
      WHERE was.environment = changed.environment AND was.customer_id = changed.id`,
    [all.map(({ environment }) => environment), all.map(({ id }) => id)],
  );
  await notifyChanges(
    db,
    all.map((one) => ({ kind: 'holdings', ...one })),
  );
}

async function insertTerms(db: Pool | PoolClient, terms: readonly TermOfCustomer[]): Promise<void> {
  await db.query(
    `INSERT INTO metered_terms
     SELECT environment, customer_id, meter_key, starts_at, period_start, limits::numeric[], is_unlimited,
            subscription_id, source_start, source_end, anchor, interval, interval_count, legacy_interval_ms,
            resets::text[], since
       FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::text[],
                   $7::boolean[], $8::text[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[],
                   $12::text[], $13::integer[], $14::bigint[], $15::text[], $16::timestamptz[])
         AS new (environment, customer_id, meter_key, starts_at, period_start, limits, is_unlimited,
                 subscription_id, source_start, source_end, anchor, interval, interval_count,
                 legacy_interval_ms, resets, since)`,
    [
      terms.map(({ environment }) => environment),
      terms.map(({ customerId }) => customerId),
      terms.map(({ meterKey }) => meterKey),
      terms.map(({ startsMs }) => new Date(startsMs)),
      terms.map(({ periodStartMs }) => new Date(periodStartMs)),
      terms.map(({ limits }) => `{${limits.map(({ amount }) => amount).join(',')}}`),
      terms.map(({ isUnlimited }) => isUnlimited),
      ...sourceColumns(terms),
      terms.map(({ limits }) => `{${limits.map(({ resets }) => resets).join(',')}}`),
      terms.map(({ sinceMs }) => new Date(sinceMs)),
    ],
  );
}

async function removeTerms(
  db: Pool | PoolClient,
  gone: ReadonlyArray<MeterOfCustomer & { from: Date }>,
): Promise<void> {
  await db.query(
    `DELETE FROM metered_terms t
      USING unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
              AS gone (environment, customer_id, meter_key, begins)
      WHERE t.environment = gone.environment AND t.customer_id = gone.customer_id
        AND t.meter_key = gone.meter_key AND t.starts_at >= gone.begins`,
    [
      gone.map(({ environment }) => environment),
      gone.map(({ customerId }) => customerId),
      gone.map(({ meterKey }) => meterKey),
      gone.map(({ from }) => from),
    ],
  );
}

/** Undefined where periods are calendar months. */
export function sourceOf(row: SourceRow): MeteredSource | undefined {
  const { subscriptionId, sourceStart, sourceEnd, anchor, interval, intervalCount, legacyIntervalMs } = row;
  if (!subscriptionId || !sourceStart || !sourceEnd || !anchor || !interval) return undefined;
  const cycle = { anchorMs: anchor.getTime(), interval, intervalCount: intervalCount ?? 1 };
  return {
    subscriptionId,
    period: { fromMs: sourceStart.getTime(), toMs: sourceEnd.getTime() },
    cycle: legacyIntervalMs === null ? cycle : { ...cycle, legacyIntervalMs: Number(legacyIntervalMs) },
  };
}

function termOf(row: TermRow): TermOfCustomer {
  const { environment, customerId, meterKey, startsAt, periodStart, since, isUnlimited } = row;
  const limits = row.limits.map((amount, at) => ({ amount, resets: row.resets?.[at] ?? 'billing_period' }));
  return {
    environment,
    customerId,
    meterKey,
    startsMs: startsAt.getTime(),
    periodStartMs: periodStart.getTime(),
    sinceMs: since.getTime(),
    source: sourceOf(row),
    limits,
    isUnlimited,
  };
}

function sourceColumns(terms: readonly MeteredTerm[]) {
  const date = (ms: number | undefined) => (ms === undefined ? null : new Date(ms));
  const sources = terms.map(({ source }) => source);
  return [
    sources.map((source) => source?.subscriptionId ?? null),
    sources.map((source) => date(source?.period.fromMs)),
    sources.map((source) => date(source?.period.toMs)),
    sources.map((source) => date(source?.cycle.anchorMs)),
    sources.map((source) => source?.cycle.interval ?? null),
    sources.map((source) => source?.cycle.intervalCount ?? null),
    sources.map((source) => source?.cycle.legacyIntervalMs ?? null),
  ];
}
