import type { Pool, PoolClient } from 'pg';

/** Where a wallet is. */
export interface WalletPlace {
  environment: string;
  customerId: string;
}

/** Decimal texts. */
export interface WalletRow extends WalletPlace {
  /** What its grants have left, also of those that have expired and were not taken out yet. */
  balance: string;
  /** What was burned beyond the balance; the next grant pays it. */
  unpaid: string;
}

/** Gives each customer a wallet that has none; rivals wait in one order. */
export async function insertWallets(db: Pool | PoolClient, places: readonly WalletPlace[]): Promise<void> {
  await db.query(
    `INSERT INTO credit_wallets (environment, customer_id)
     SELECT environment, customer_id FROM unnest($1::text[], $2::text[]) AS new (environment, customer_id)
      ORDER BY customer_id
     ON CONFLICT (customer_id) DO NOTHING`,
    columnsOf(places),
  );
}

/** Locks these credits for the rest of the transaction. All callers lock in one order. */
export async function lockWallets(
  db: Pool | PoolClient,
  places: readonly WalletPlace[],
): Promise<WalletRow[]> {
  const { rows } = await db.query<WalletRow>(
    `SELECT environment, customer_id AS "customerId", balance, unpaid FROM credit_wallets
      WHERE (environment, customer_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
      ORDER BY customer_id FOR NO KEY UPDATE`,
    columnsOf(places),
  );
  return rows;
}

export async function updateWallets(db: Pool | PoolClient, wallets: readonly WalletRow[]): Promise<void> {
  await db.query(
    `UPDATE credit_wallets AS wallet SET balance = new.balance, unpaid = new.unpaid
       FROM unnest($1::text[], $2::text[], $3::numeric[], $4::numeric[])
         AS new (environment, customer_id, balance, unpaid)
      WHERE wallet.environment = new.environment AND wallet.customer_id = new.customer_id`,
    [...columnsOf(wallets), wallets.map(({ balance }) => balance), wallets.map(({ unpaid }) => unpaid)],
  );
}

/** What a customer can burn at a given time, and what it owes. Decimal texts. */
export interface WalletState extends WalletPlace {
  balance: string;
  unpaid: string;
  /** When the next of its grants expires; null: none does. */
  nextExpiryAt: Date | null;
}

/** Of those that have a wallet. What has expired by then counts no more, be it taken out already or not. */
export async function findWallets(
  db: Pool | PoolClient,
  places: readonly WalletPlace[],
  at: Date,
): Promise<WalletState[]> {
  const { rows } = await db.query<WalletState>(
    `SELECT wallet.environment, wallet.customer_id AS "customerId", wallet.unpaid,
            coalesce(held.remaining, 0) AS balance, held.expires_at AS "nextExpiryAt"
       FROM credit_wallets AS wallet
       LEFT JOIN LATERAL (
         SELECT sum(remaining) AS remaining, min(expires_at) AS expires_at FROM credit_grants AS held
          WHERE held.environment = wallet.environment AND held.customer_id = wallet.customer_id
            AND remaining > 0 AND (expires_at IS NULL OR expires_at > $3)
       ) AS held ON true
      WHERE (wallet.environment, wallet.customer_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    [...columnsOf(places), at],
  );
  return rows;
}

function columnsOf(places: readonly WalletPlace[]): [environments: string[], customerIds: string[]] {
  return [places.map(({ environment }) => environment), places.map(({ customerId }) => customerId)];
}
