import type { Pool, PoolClient } from 'pg';
import type { WalletPlace } from './credit-wallets.ts';

/** What a meter has burned of one grant, or without one ('') what is unpaid. Decimal text. */
export interface UseRow extends WalletPlace {
  meterKey: string;
  grantId: string;
  amount: string;
}

/** Of locked wallets. */
export async function readUses(db: Pool | PoolClient, places: readonly WalletPlace[]): Promise<UseRow[]> {
  const { rows } = await db.query<UseRow>(
    `SELECT environment, customer_id AS "customerId", meter_key AS "meterKey", grant_id AS "grantId", amount
       FROM credit_uses
      WHERE (environment, customer_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
      ORDER BY meter_key, grant_id`,
    [places.map(({ environment }) => environment), places.map(({ customerId }) => customerId)],
  );
  return rows;
}

/** Adds to what was burned before. Of locked wallets. */
export async function addUses(db: Pool | PoolClient, rows: readonly UseRow[]): Promise<void> {
  await db.query(
    `INSERT INTO credit_uses AS used (environment, customer_id, meter_key, grant_id, amount)
     SELECT environment, customer_id, meter_key, grant_id, sum(amount)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::numeric[])
         AS new (environment, customer_id, meter_key, grant_id, amount)
      GROUP BY environment, customer_id, meter_key, grant_id
     ON CONFLICT (customer_id, meter_key, grant_id) DO UPDATE SET amount = used.amount + excluded.amount
      WHERE used.environment = excluded.environment`,
    columnsOf(rows),
  );
}

/** Instead of all that is known of these wallets, which are locked. */
export async function replaceUses(
  db: Pool | PoolClient,
  places: readonly WalletPlace[],
  rows: readonly UseRow[],
): Promise<void> {
  await db.query(
    `DELETE FROM credit_uses
      WHERE (environment, customer_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
    [places.map(({ environment }) => environment), places.map(({ customerId }) => customerId)],
  );
  if (rows.length > 0) await addUses(db, rows);
}

function columnsOf(rows: readonly UseRow[]): string[][] {
  return [
    rows.map(({ environment }) => environment),
    rows.map(({ customerId }) => customerId),
    rows.map(({ meterKey }) => meterKey),
    rows.map(({ grantId }) => grantId),
    rows.map(({ amount }) => amount),
  ];
}
