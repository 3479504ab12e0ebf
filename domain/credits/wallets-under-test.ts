import type { Pool, PoolClient } from 'pg';
import { inTransaction } from '../../infra/postgres/pool.ts';
import { newId } from '../../schemas/primitives/ids.ts';
import { testWorkspace } from '../../tests/support/test-pool.ts';
import { creditUnits } from '../rules/credit-units.ts';
import type { WalletPlace } from '../store/credit-wallets.ts';
import { burnCredits, expireCredits, grantCredits } from './move-credits.ts';

export const START_MS = Date.UTC(2026, 0, 31, 12);
const PERIOD_START = new Date('2026-01-01T00:00:00.000Z');

/** What a test sets of a grant. */
export interface GivenGrant {
  amount: string;
  priority?: number;
  expiresAtMs?: number | null;
  nowMs?: number;
}

/** What a test sets of a burn. */
export interface GivenBurn {
  customerId: string;
  amount: string;
  meterKey?: string;
}

/** Customers of a database of their own, in one environment, and their wallets. */
export async function walletsUnderTest({ connections = 10 } = {}) {
  const { pool, environment } = await testWorkspace({ max: connections });
  const places = (customerIds: readonly string[]): WalletPlace[] =>
    customerIds.map((customerId) => ({ environment, customerId }));

  return {
    pool,
    environment,
    async customers(count: number): Promise<string[]> {
      const ids = Array.from({ length: count }, () => newId('cus'));
      await pool.query(
        `INSERT INTO customers (id, environment, name, email)
         SELECT id, $1, 'Ada', 'ada@example.com' FROM unnest($2::text[]) AS id`,
        [environment, ids],
      );
      return ids;
    },
    /** Gives the id of the grant. */
    async grant(customerId: string, given: GivenGrant, db: Pool | PoolClient = pool): Promise<string> {
      const { amount, priority = 100, expiresAtMs = null, nowMs = START_MS } = given;
      const expiresAt = expiresAtMs === null ? null : new Date(expiresAtMs);
      const what = { amount, reason: 'test', priority, expiresAt, createdAt: new Date(nowMs) };
      const grant = { id: newId('grant'), environment, customerId, ...what };
      if (db !== pool) await grantCredits(db, grant);
      else await inTransaction(pool, (client) => grantCredits(client, grant));
      return grant.id;
    },
    /** A grant for each of many at once, past the ledger. */
    fill: (customerIds: readonly string[], given: GivenGrant) =>
      fill(pool, { environment, customerIds }, given),
    burn: (given: readonly GivenBurn[], nowMs = START_MS): Promise<void> =>
      inTransaction(pool, (db) => {
        const burns = given.map(({ meterKey = 'calls', ...burn }) => {
          return { environment, periodStart: PERIOD_START, meterKey, ...burn };
        });
        return burnCredits(db, { nowMs, burns });
      }),
    expire: (customerIds: readonly string[], nowMs: number): Promise<void> =>
      inTransaction(pool, (db) => expireCredits(db, { nowMs, places: places(customerIds) })),
    wallets: (customerIds: readonly string[]) => readWallets(pool, customerIds),
    /** Types of the events emitted for a customer, in their order. */
    async notified(customerId: string): Promise<string[]> {
      const { rows } = await pool.query<{ type: string }>(
        'SELECT type FROM webhook_events WHERE object_id = $1 ORDER BY created_at, id',
        [customerId],
      );
      return rows.map(({ type }) => type);
    },
  };
}

async function fill(
  pool: Pool,
  { environment, customerIds }: { environment: string; customerIds: readonly string[] },
  { amount, priority = 100, expiresAtMs = null, nowMs = START_MS }: GivenGrant,
): Promise<void> {
  await pool.query(
    `INSERT INTO credit_wallets AS wallet (customer_id, environment, balance)
     SELECT id, $1, $3 FROM unnest($2::text[]) AS id
     ON CONFLICT (customer_id) DO UPDATE SET balance = wallet.balance + excluded.balance`,
    [environment, customerIds, amount],
  );
  await pool.query(
    `INSERT INTO credit_grants
       (id, environment, customer_id, amount, remaining, reason, priority, expires_at, created_at)
     SELECT gen_random_uuid(), $1, id, $3, $3, 'test', $4, $5, $6 FROM unnest($2::text[]) AS id`,
    [
      environment,
      customerIds,
      amount,
      priority,
      expiresAtMs === null ? null : new Date(expiresAtMs),
      new Date(nowMs),
    ],
  );
}

/** Units of 10^-24. */
export interface SeenWallet {
  balance: bigint;
  unpaid: bigint;
  /** What the ledger contains of the two. */
  ledger: { balance: bigint; unpaid: bigint };
  /** Of grants, by id. */
  remaining: Map<string, bigint>;
  /** How often it was emitted. */
  depletions: number;
}

async function readWallets(pool: Pool, customerIds: readonly string[]): Promise<Map<string, SeenWallet>> {
  const { rows } = await pool.query(
    `SELECT customer_id AS id, balance, unpaid,
            (SELECT coalesce(sum(amount), 0) FROM credit_ledger l WHERE l.customer_id = w.customer_id)
              AS "ledgerBalance",
            (SELECT coalesce(sum(unpaid), 0) FROM credit_ledger l WHERE l.customer_id = w.customer_id)
              AS "ledgerUnpaid",
            (SELECT coalesce(json_object_agg(g.id, g.remaining::text), '{}') FROM credit_grants g
              WHERE g.customer_id = w.customer_id) AS remaining,
            (SELECT count(*) FROM webhook_events e
              WHERE e.object_id = w.customer_id AND e.type = 'credit.depleted') AS depletions
       FROM credit_wallets w WHERE customer_id = ANY ($1)`,
    [customerIds],
  );
  return new Map(
    rows.map((row) => {
      const remaining = Object.entries<string>(row.remaining).map(([id, text]): [string, bigint] => [
        id,
        creditUnits(text),
      ]);
      const seen: SeenWallet = {
        balance: creditUnits(row.balance),
        unpaid: creditUnits(row.unpaid),
        ledger: { balance: creditUnits(row.ledgerBalance), unpaid: creditUnits(row.ledgerUnpaid) },
        remaining: new Map(remaining),
        depletions: row.depletions,
      };
      return [row.id, seen];
    }),
  );
}
