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

/** A wallet whose sums contradict each other; or credits, and no wallet. */
export interface ContradictoryWallet extends WalletSums {
  hasWallet: boolean;
}

/** Customers of one page, in the order of their ids: behind `after`, up to `last`. */
export interface WalletPage {
  read: number;
  after: string;
  last: string;
}

/**
 * The next `$2` behind `$1` that have a wallet, or anything else of credits: what is left without its wallet
 * is to be found. What a limit covers burns nothing, and takes no wallet.
 */
const PAGE = `page AS MATERIALIZED (
  SELECT DISTINCT ON (customer_id) environment, customer_id FROM (
    ${['credit_wallets', 'credit_grants', 'credit_ledger', 'credit_uses']
      .map((table) => nextOf(`FROM ${table} WHERE true`))
      .join(' UNION ')}
    UNION
    SELECT burning.* FROM environments e
     CROSS JOIN LATERAL ${nextOf('FROM credit_burns WHERE environment = e.id AND burned > 0')} burning) found
   ORDER BY customer_id, environment LIMIT $2)`;

function nextOf(rows: string): string {
  return `(SELECT DISTINCT environment, customer_id ${rows} AND customer_id > $1
            ORDER BY customer_id LIMIT $2)`;
}

/**
 * The customers of one page whose sums contradict each other. Where nothing is unpaid, a balance is what was
 * granted less what expired and what usage has cost. The wallet, the grants, the ledger and the records of
 * what paid for what have to agree on that. One statement, so that all of it is of one time.
 */
export async function contradictoryWallets(
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<WalletPage & { wallets: ContradictoryWallet[] }> {
  const { rows } = await db.query<ContradictoryWallet & { isRight: boolean }>(
    `WITH ${PAGE},
          granted AS MATERIALIZED (
            SELECT customer_id, sum(amount) AS granted, sum(remaining) AS remaining FROM credit_grants
             WHERE customer_id IN (SELECT customer_id FROM page) GROUP BY customer_id),
          sums AS (
            SELECT page.*, w.customer_id IS NOT NULL AS has_wallet, coalesce(w.balance, 0) AS balance,
                   coalesce(w.unpaid, 0) AS unpaid, coalesce(g.granted, 0) AS granted,
                   coalesce(g.remaining, 0) AS remaining
              FROM page
              LEFT JOIN credit_wallets w USING (customer_id)
              LEFT JOIN granted g USING (customer_id))
     SELECT sums.environment, sums.customer_id AS "customerId", sums.has_wallet AS "hasWallet",
            trim_scale(sums.balance)::text AS balance, trim_scale(sums.unpaid)::text AS unpaid,
            trim_scale(sums.granted)::text AS granted, trim_scale(l.expired)::text AS expired,
            trim_scale(b.cost)::text AS cost,
            sums.has_wallet
              AND sums.balance - sums.unpaid = sums.granted - l.expired - b.cost
              AND sums.balance = sums.remaining
              AND sums.balance = l.balance AND sums.unpaid = l.unpaid
              AND sums.granted = l.granted
              AND b.cost = u.used AND sums.unpaid = u.unpaid AS "isRight"
       FROM sums
      CROSS JOIN LATERAL (
            SELECT coalesce(sum(amount), 0) AS balance, coalesce(sum(unpaid), 0) AS unpaid,
                   coalesce(sum(amount) FILTER (WHERE type = 'grant'), 0) AS granted,
                   coalesce(-sum(amount) FILTER (WHERE type = 'expiry'), 0) AS expired
              FROM credit_ledger WHERE customer_id = sums.customer_id) l
      CROSS JOIN LATERAL (
            SELECT coalesce(sum(burned), 0) AS cost FROM credit_burns
             WHERE environment = sums.environment AND customer_id = sums.customer_id) b
      CROSS JOIN LATERAL (
            SELECT coalesce(sum(amount), 0) AS used,
                   coalesce(sum(amount) FILTER (WHERE grant_id = ''), 0) AS unpaid
              FROM credit_uses WHERE customer_id = sums.customer_id) u
      ORDER BY sums.customer_id`,
    [after, limit],
  );
  const wallets = rows.flatMap(({ isRight, ...sums }) => (isRight ? [] : [sums]));
  return { read: rows.length, after, last: rows.at(-1)?.customerId ?? after, wallets };
}

/** What is stored of one grant. Decimal texts. */
export interface GrantSums {
  environment: string;
  customerId: string;
  /** Of what was used it may be one that there is not: it granted nothing. */
  grantId: string;
  granted: string;
  remaining: string;
  expired: string;
  used: string;
}

/**
 * Of the customers of one page the grants that do not add up: what one granted has to be what it has left,
 * what expired of it and what usage has burned of it; and the ledger states that it granted so much. In one
 * statement, as above.
 */
export async function contradictoryGrants(
  db: Queryable,
  { after, last }: Pick<WalletPage, 'after' | 'last'>,
): Promise<GrantSums[]> {
  const inPage = 'customer_id > $1 AND customer_id <= $2';
  const { rows } = await db.query<GrantSums>(
    `SELECT coalesce(g.environment, u.environment, l.environment) AS environment,
            customer_id AS "customerId", grant_id AS "grantId",
            trim_scale(coalesce(g.amount, 0))::text AS granted,
            trim_scale(coalesce(g.remaining, 0))::text AS remaining,
            trim_scale(coalesce(l.expired, 0))::text AS expired, trim_scale(coalesce(u.used, 0))::text AS used
       FROM (SELECT environment, customer_id, id AS grant_id, amount, remaining FROM credit_grants
              WHERE ${inPage}) g
       FULL JOIN (SELECT min(environment) AS environment, customer_id, grant_id, sum(amount) AS used
                    FROM credit_uses WHERE grant_id <> '' AND ${inPage} GROUP BY customer_id, grant_id) u
            USING (customer_id, grant_id)
       FULL JOIN (SELECT min(environment) AS environment, customer_id, grant_id,
                         sum(amount) FILTER (WHERE type = 'grant') AS granted,
                         -sum(amount) FILTER (WHERE type = 'expiry') AS expired
                    FROM credit_ledger WHERE grant_id IS NOT NULL AND ${inPage}
                   GROUP BY customer_id, grant_id) l
            USING (customer_id, grant_id)
      WHERE coalesce(g.amount, 0) <> coalesce(g.remaining, 0) + coalesce(l.expired, 0) + coalesce(u.used, 0)
         OR coalesce(g.amount, 0) <> coalesce(l.granted, 0)
      ORDER BY customer_id, grant_id`,
    [after, last],
  );
  return rows;
}

/** Whether everything that is loaded is settled: then what usage has cost is what it costs. */
export async function isAllSettled(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ isSettled: boolean }>(
    `SELECT NOT EXISTS (SELECT FROM log_ranges WHERE state <> 'settled')
        AND NOT EXISTS (SELECT FROM settlement_marks) AS "isSettled"`,
  );
  return rows[0]?.isSettled ?? false;
}
