import type { PoolClient } from 'pg';
import type { Database } from '../http/request-context.ts';

/** Before the transaction that locks them: two that made accounts within could wait in a circle. */
export async function makeAccounts(db: Database, environment: string, customerIds: string[]): Promise<void> {
  await db.query(
    `INSERT INTO reservation_accounts (environment, customer_id)
     SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING`,
    [environment, customerIds],
  );
}

/**
 * Locks the accounts of these customers for the rest of the transaction, in one order for all transactions.
 * Returns how many there are. Fails after `waitMs` for another owner.
 */
export async function lockAccounts(
  client: PoolClient,
  { environment, customerIds, waitMs }: { environment: string; customerIds: string[]; waitMs: number },
): Promise<number> {
  await client.query(`SELECT set_config('lock_timeout', $1, true)`, [String(waitMs)]);
  const { rowCount } = await client.query(
    `SELECT 1 FROM reservation_accounts WHERE environment = $1 AND customer_id = ANY ($2)
      ORDER BY customer_id FOR UPDATE`,
    [environment, customerIds],
  );
  return rowCount ?? 0;
}

/** What is held of a customer's meter. Decimal texts. */
export interface ReservedAmount {
  customerId: string;
  meterKey: string;
  held: string;
  /** Of that, what goes beyond the limit, and the credits for one unit of it. */
  beyond: string;
  rate: string;
}

/** A statement of its own after the accounts are locked: it sees what their last owner has committed. */
export async function readReservedAmounts(
  db: Database,
  environment: string,
  customerIds: string[],
): Promise<ReservedAmount[]> {
  const { rows } = await db.query<ReservedAmount>(
    `SELECT customer_id AS "customerId", meter_key AS "meterKey", held::text AS held,
            beyond::text AS beyond, rate::text AS rate
       FROM reserved_amounts WHERE environment = $1 AND customer_id = ANY ($2)`,
    [environment, customerIds],
  );
  return rows;
}

export async function writeReservedAmounts(
  db: Database,
  environment: string,
  amounts: readonly ReservedAmount[],
): Promise<void> {
  const column = (name: keyof ReservedAmount) => amounts.map((one) => one[name]);
  await db.query(
    `INSERT INTO reserved_amounts (environment, customer_id, meter_key, held, beyond, rate)
     SELECT $1, * FROM unnest($2::text[], $3::text[], $4::numeric[], $5::numeric[], $6::numeric[])
     ON CONFLICT (environment, customer_id, meter_key) DO UPDATE
       SET held = excluded.held, beyond = excluded.beyond, rate = excluded.rate`,
    [environment, column('customerId'), column('meterKey'), column('held'), column('beyond'), column('rate')],
  );
}
