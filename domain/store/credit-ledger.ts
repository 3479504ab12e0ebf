import type { Pool, PoolClient } from 'pg';
import type { WalletPlace } from './credit-wallets.ts';

/** What happened to a wallet. Amounts are decimal text. */
export type LedgerEntry = LedgerReference &
  WalletPlace & {
    /** What the balance changed by. */
    amount: string;
    /** What the unpaid rest changed by. */
    unpaid: string;
  };

/** What an entry is about. */
export type LedgerReference = GrantEntry | BurnEntry;

/** A grant came, paid the unpaid rest, or expired. */
interface GrantEntry {
  type: 'grant' | 'repayment' | 'expiry';
  grantId: string;
}

/** Usage of a meter burned credits, or gave some back, in the billing period to which it belongs. */
interface BurnEntry {
  type: 'burn' | 'reversal';
  meterKey: string;
  periodStart: Date;
}

/** In their order; what a meter burned, or gave back, in the same hour is added to. */
export async function insertEntries(
  db: Pool | PoolClient,
  entries: readonly LedgerEntry[],
  now: Date,
): Promise<void> {
  await db.query(
    `INSERT INTO credit_ledger AS entry
       (environment, customer_id, type, amount, unpaid, grant_id, meter_key, period_start, burn_hour,
        created_at, updated_at)
     SELECT environment, customer_id, type, amount, unpaid, grant_id, meter_key, period_start,
            CASE WHEN meter_key IS NOT NULL THEN date_trunc('hour', $1::timestamptz, 'UTC') END, $1, $1
       FROM unnest($2::text[], $3::text[], $4::text[], $5::numeric[], $6::numeric[], $7::text[], $8::text[],
                   $9::timestamptz[])
         WITH ORDINALITY AS new (environment, customer_id, type, amount, unpaid, grant_id, meter_key,
                                 period_start, place)
      ORDER BY place
     ON CONFLICT (customer_id, meter_key, period_start, burn_hour, type) DO UPDATE
       SET amount = entry.amount + excluded.amount, unpaid = entry.unpaid + excluded.unpaid,
           updated_at = excluded.updated_at
     WHERE entry.environment = excluded.environment`,
    [
      now,
      entries.map(({ environment }) => environment),
      entries.map(({ customerId }) => customerId),
      entries.map(({ type }) => type),
      entries.map(({ amount }) => amount),
      entries.map(({ unpaid }) => unpaid),
      entries.map((entry) => ('grantId' in entry ? entry.grantId : null)),
      entries.map((entry) => ('grantId' in entry ? null : entry.meterKey)),
      entries.map((entry) => ('grantId' in entry ? null : entry.periodStart)),
    ],
  );
}
