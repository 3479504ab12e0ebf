import type { Pool, PoolClient } from 'pg';
import type { Span } from '../../schemas/primitives/calendar.ts';
import type { GrantRhythm } from '../../schemas/value-sets.ts';
import type { WalletPlace } from './credit-wallets.ts';

/** Amounts are decimal text. */
export interface GrantRow extends WalletPlace {
  id: string;
  amount: string;
  remaining: string;
  reason: string;
  /** The lower is burned first. */
  priority: number;
  expiresAt: Date | null;
  createdAt: Date;
  /** Of one that a plan makes. */
  recurring?: RecurringPlace | null;
}

/** Which grant of which period it is. */
export interface RecurringPlace {
  subscriptionId: string;
  key: string;
  periodStartMs: number;
  /** 0: rolled over; 1: the grant; more: added by a change of the plan. */
  part: number;
}

export const RECURRING = `CASE WHEN subscription_id IS NOT NULL THEN jsonb_build_object(
  'subscriptionId', subscription_id, 'key', grant_key, 'part', part,
  'periodStartMs', (extract(epoch FROM period_start) * 1000)::bigint) END AS recurring`;

const COLUMNS = `id, environment, customer_id AS "customerId", amount, remaining, reason, priority,
  expires_at AS "expiresAt", created_at AS "createdAt", ${RECURRING}`;

export async function insertGrant(db: Pool | PoolClient, row: GrantRow): Promise<void> {
  await db.query(
    `INSERT INTO credit_grants
       (id, environment, customer_id, amount, remaining, reason, priority, expires_at, created_at,
        subscription_id, grant_key, period_start, part)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    [
      row.id,
      row.environment,
      row.customerId,
      row.amount,
      row.remaining,
      row.reason,
      row.priority,
      row.expiresAt,
      row.createdAt,
      row.recurring?.subscriptionId,
      row.recurring?.key,
      row.recurring && new Date(row.recurring.periodStartMs),
      row.recurring?.part,
    ],
  );
}

/** Of locked wallets: what has expired by now has nothing left. Gives them as they were. */
export async function emptyExpired(
  db: Pool | PoolClient,
  places: readonly WalletPlace[],
  now: Date,
): Promise<GrantRow[]> {
  const { rows } = await db.query<GrantRow>(
    `WITH expired AS (
       SELECT * FROM credit_grants
        WHERE (environment, customer_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
          AND remaining > 0 AND expires_at <= $3
     ), emptied AS (
       UPDATE credit_grants AS granted SET remaining = 0, lapsed = granted.lapsed + granted.remaining
          FROM expired
        WHERE granted.environment = expired.environment AND granted.id = expired.id
     )
     SELECT ${COLUMNS} FROM expired ORDER BY expires_at, id`,
    [places.map(({ environment }) => environment), places.map(({ customerId }) => customerId), now],
  );
  return rows;
}

/** How much is to be burned: decimal text. */
export interface Due extends WalletPlace {
  amount: string;
}

/** Of locked wallets: the first grants in the order of burning that together cover it, or all. */
export async function findBurnable(
  db: Pool | PoolClient,
  dues: readonly Due[],
  now: Date,
): Promise<GrantRow[]> {
  const { rows } = await db.query<GrantRow>(
    `SELECT ${COLUMNS} FROM (
       SELECT granted.*, due.amount AS due, sum(remaining) OVER (
                PARTITION BY customer_id
                ORDER BY priority, expires_at NULLS LAST, created_at, id COLLATE "C"
              ) - remaining AS before
         FROM unnest($1::text[], $2::text[], $3::numeric[]) AS due (environment, customer_id, amount)
         JOIN credit_grants AS granted USING (environment, customer_id)
        WHERE remaining > 0 AND (expires_at IS NULL OR expires_at > $4)
     ) AS held
     WHERE before < due`,
    [
      dues.map(({ environment }) => environment),
      dues.map(({ customerId }) => customerId),
      dues.map(({ amount }) => amount),
      now,
    ],
  );
  return rows;
}

/** Of locked wallets, by id: those that there are. */
export async function findGrants(db: Pool | PoolClient, ids: readonly string[]): Promise<GrantRow[]> {
  const { rows } = await db.query<GrantRow>(`SELECT ${COLUMNS} FROM credit_grants WHERE id = ANY ($1)`, [
    ids,
  ]);
  return rows;
}

export type RemainingRow = Pick<GrantRow, 'environment' | 'id' | 'remaining'>;

export async function updateRemaining(db: Pool | PoolClient, rows: readonly RemainingRow[]): Promise<void> {
  await db.query(
    `UPDATE credit_grants AS granted SET remaining = new.remaining
       FROM unnest($1::text[], $2::text[], $3::numeric[]) AS new (environment, id, remaining)
      WHERE granted.environment = new.environment AND granted.id = new.id`,
    [
      rows.map(({ environment }) => environment),
      rows.map(({ id }) => id),
      rows.map(({ remaining }) => remaining),
    ],
  );
}

/** Of a locked wallet. From now on no change of its subscription's periods moves it. */
export async function setExpiry(db: PoolClient, id: string, expiresAt: Date): Promise<void> {
  await db.query('UPDATE credit_grants SET expires_at = $2, expiry_is_set = true WHERE id = $1', [
    id,
    expiresAt,
  ]);
}

/** Which wallets. */
export interface ExpiredQuestion {
  now: Date;
  /** Not of these customers. */
  except: readonly string[];
  /** Of grants. */
  limit: number;
}

/** Of all environments: wallets with something in them that has expired, the longest first. */
export async function findExpiredWallets(
  db: Pool | PoolClient,
  { now, except, limit }: ExpiredQuestion,
): Promise<WalletPlace[]> {
  const { rows } = await db.query<WalletPlace>(
    `SELECT DISTINCT environment, customer_id AS "customerId" FROM (
       SELECT environment, customer_id FROM credit_grants
        WHERE remaining > 0 AND expires_at <= $1 AND customer_id <> ALL ($2)
        ORDER BY expires_at, id LIMIT $3
     ) AS expired`,
    [now, except, limit],
  );
  return rows;
}

/** When the next grant expires, in any environment. */
export async function nextExpiryAt(db: Pool | PoolClient): Promise<Date | undefined> {
  const { rows } = await db.query<{ expiresAt: Date | null }>(
    `SELECT min(expires_at) AS "expiresAt" FROM credit_grants
      WHERE remaining > 0 AND expires_at IS NOT NULL`,
  );
  return rows[0]?.expiresAt ?? undefined;
}

/** What a subscription was granted under one key in one period. Amounts are decimal text. */
export interface GrantedPeriod {
  /** 0 without any; what was rolled over is not counted. */
  amount: string;
  /** The next part. 1: nothing was granted. */
  nextPart: number;
  /** What had expired unused when the period began. */
  lapsed: string;
}

/** Of a locked wallet that has no expired credits. */
export async function findGrantedPeriod(
  db: Pool | PoolClient,
  { subscriptionId, key, periodStartMs }: Omit<RecurringPlace, 'part'>,
): Promise<GrantedPeriod> {
  const { rows } = await db.query<GrantedPeriod>(
    `SELECT coalesce(sum(amount) FILTER (WHERE period_start = $3 AND part > 0), 0) AS amount,
            coalesce(max(part) FILTER (WHERE period_start = $3), 0) + 1 AS "nextPart",
            coalesce(sum(lapsed) FILTER (WHERE expires_at = $3), 0) AS lapsed
       FROM credit_grants WHERE subscription_id = $1 AND grant_key = $2`,
    [subscriptionId, key, new Date(periodStartMs)],
  );
  return rows[0] as GrantedPeriod;
}

/**
 * What was granted for this period expires with it, and what was granted before it when it began: a period
 * may end at another time than it was to. What has expired already stays so; and a month does not end what
 * was granted for a longer time.
 */
export async function alignExpiry(
  db: Pool | PoolClient,
  {
    subscriptionId,
    key,
    every,
    fromMs,
    toMs,
  }: Pick<RecurringPlace, 'subscriptionId' | 'key'> & { every: GrantRhythm } & Span,
): Promise<void> {
  await db.query(
    `UPDATE credit_grants SET expires_at = CASE WHEN period_start < $3 THEN $3 ELSE $4::timestamptz END
      WHERE subscription_id = $1 AND grant_key = $2 AND lapsed = 0 AND NOT expiry_is_set
        AND (period_start = $3 AND expires_at <> $4 OR period_start < $3 AND expires_at > $3)
        AND ($5 OR expires_at <= period_start + interval '744 hours')`,
    [subscriptionId, key, new Date(fromMs), new Date(toMs), every === 'period'],
  );
}
