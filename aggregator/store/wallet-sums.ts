import type { Queryable } from './queryable.ts';

/** What is stored of one customer's credits, each sum by itself. Decimal texts. */
export interface WalletSums {
  environment: string;
  customerId: string;
  balance: string;
  unpaid: string;
  granted: string;
  expired: string;
  /** Of all usage, as it was settled. */
  cost: string;
}

/**
 * Of these wallets, in the order of their customers, those whose sums contradict each other: a balance has to
 * be what was granted less what expired and what usage has cost, where nothing is unpaid; and so say the
 * wallet, the grants, the ledger, and what is known of who paid for what. In one statement, so that all of it
 * is of one moment. `read` is how many wallets were looked at, `last` the last of them.
 */
export async function contradictoryWallets(
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<{ read: number; last: string; wallets: WalletSums[] }> {
  const { rows } = await db.query<WalletSums & { isRight: boolean }>(
    `WITH page AS (
       SELECT * FROM credit_wallets WHERE customer_id > $1 ORDER BY customer_id LIMIT $2)
     SELECT page.environment, page.customer_id AS "customerId",
            trim_scale(page.balance)::text AS balance, trim_scale(page.unpaid)::text AS unpaid,
            trim_scale(g.granted)::text AS granted, trim_scale(l.expired)::text AS expired,
            trim_scale(b.cost)::text AS cost,
            page.balance - page.unpaid = g.granted - l.expired - b.cost
              AND page.balance = g.remaining
              AND page.balance = l.balance AND page.unpaid = l.unpaid
              AND g.granted = l.granted
              AND b.cost = u.used AND page.unpaid = u.unpaid AS "isRight"
       FROM page
      CROSS JOIN LATERAL (
            SELECT coalesce(sum(amount), 0) AS granted, coalesce(sum(remaining), 0) AS remaining
              FROM credit_grants WHERE customer_id = page.customer_id) g
      CROSS JOIN LATERAL (
            SELECT coalesce(sum(amount), 0) AS balance, coalesce(sum(unpaid), 0) AS unpaid,
                   coalesce(sum(amount) FILTER (WHERE type = 'grant'), 0) AS granted,
                   coalesce(-sum(amount) FILTER (WHERE type = 'expiry'), 0) AS expired
              FROM credit_ledger WHERE customer_id = page.customer_id) l
      CROSS JOIN LATERAL (
            SELECT coalesce(sum(burned), 0) AS cost FROM credit_burns
             WHERE environment = page.environment AND customer_id = page.customer_id) b
      CROSS JOIN LATERAL (
            SELECT coalesce(sum(amount), 0) AS used,
                   coalesce(sum(amount) FILTER (WHERE grant_id = ''), 0) AS unpaid
              FROM credit_uses WHERE customer_id = page.customer_id) u
      ORDER BY page.customer_id`,
    [after, limit],
  );
  const wallets = rows.flatMap(({ isRight, ...sums }) => (isRight ? [] : [sums]));
  return { read: rows.length, last: rows.at(-1)?.customerId ?? after, wallets };
}

/** Whether everything that is loaded is settled: then what usage has cost is what it costs. */
export async function isAllSettled(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ isSettled: boolean }>(
    `SELECT NOT EXISTS (SELECT FROM log_ranges WHERE state <> 'settled')
        AND NOT EXISTS (SELECT FROM settlement_marks) AS "isSettled"`,
  );
  return rows[0]?.isSettled ?? false;
}
