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
 * Returns how many there are.
 */
export async function lockAccounts(
  client: PoolClient,
  environment: string,
  customerIds: string[],
): Promise<number> {
  const { rowCount } = await client.query({
    name: 'lock-reservation-accounts',
    text: `SELECT 1 FROM reservation_accounts WHERE environment = $1 AND customer_id = ANY ($2)
            ORDER BY customer_id FOR UPDATE`,
    values: [environment, customerIds],
  });
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

/**
 * A statement of its own after the accounts are locked: it sees what their last owner has committed.
 * `hasDue`: a reservation of the customer is held and past its expiry.
 */
export async function readReservedAmounts(
  db: Database,
  environment: string,
  { customerIds, now }: { customerIds: string[]; now: Date },
): Promise<Array<ReservedAmount & { hasDue: boolean }>> {
  const { rows } = await db.query<ReservedAmount & { hasDue: boolean }>({
    name: 'read-reserved-amounts',
    text: `SELECT customer_id AS "customerId", meter_key AS "meterKey", held::text AS held,
                  beyond::text AS beyond, rate::text AS rate,
                  EXISTS (SELECT 1 FROM reservations r
                           WHERE r.environment = a.environment AND r.customer_id = a.customer_id
                             AND r.status = 'held' AND r.expires_at <= $3) AS "hasDue"
             FROM reserved_amounts a WHERE environment = $1 AND customer_id = ANY ($2)`,
    values: [environment, customerIds, now],
  });
  return rows;
}

/** An insert or update of what is held, for a statement with others: its columns begin at this parameter. */
export function putAmountsSql(first: number): string {
  const columns = ['text', 'text', 'numeric', 'numeric', 'numeric'];
  return `INSERT INTO reserved_amounts (environment, customer_id, meter_key, held, beyond, rate)
     SELECT $1, * FROM unnest(${columns.map((type, at) => `$${first + at}::${type}[]`).join(', ')})
     ON CONFLICT (environment, customer_id, meter_key) DO UPDATE
       SET held = excluded.held, beyond = excluded.beyond, rate = excluded.rate`;
}

export function amountColumns(amounts: readonly ReservedAmount[]): string[][] {
  const column = (name: keyof ReservedAmount) => amounts.map((one) => one[name]);
  return [column('customerId'), column('meterKey'), column('held'), column('beyond'), column('rate')];
}
