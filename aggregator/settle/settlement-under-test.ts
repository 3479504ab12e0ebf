import type { LoggedEvent } from '../../infra/conformance/load-frames.ts';
import type { LoadStores } from '../../infra/conformance/load-stores.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import { settledUpTo } from '../aggregator-under-test.ts';

export const ENVIRONMENT = 'ws_a:live';
export const CUSTOMER = 'cus_a';
export const METER = 'calls';

/** A customer, a sum meter and one of every other kind; what they have is added by the test. */
export interface Tenant {
  rate(version: number, startMs: number, creditRate: string | null, creditRates?: object): Promise<void>;
  budget(soft: string | null, hard: string | null, meterKey?: string): Promise<void>;
  /** A subscription since then, to a plan that gives so much of the meter. */
  limit(amount: string | null, sinceMs: number): Promise<void>;
  grant(amount: string): Promise<void>;
  /** Puts usage on the log, and waits until it is settled. */
  use(...events: Array<Partial<LoggedEvent>>): Promise<void>;
  wallet(): Promise<{ balance: string; unpaid: string }>;
  /** What was told of this type, in order. */
  told(type: string): Promise<Array<Record<string, unknown>>>;
}

export async function createTenant(stores: LoadStores): Promise<Tenant> {
  const { pool } = stores;
  await pool.query(`INSERT INTO workspaces (id, name) VALUES ('ws_a', 'A')`);
  await pool.query(`INSERT INTO environments VALUES ($1, 'ws_a', 'live')`, [ENVIRONMENT]);
  await pool.query(`INSERT INTO customers (id, environment, name, email) VALUES ($1, $2, 'A', 'a@b.c')`, [
    CUSTOMER,
    ENVIRONMENT,
  ]);
  for (const aggregation of AGGREGATIONS) {
    await pool.query(
      `INSERT INTO meters (id, environment, key, name, aggregation, property)
       VALUES ('meter_' || $3, $1, $2, 'Calls', $3, CASE WHEN $3 = 'unique' THEN 'region' END)`,
      [ENVIRONMENT, aggregation === 'sum' ? METER : aggregation, aggregation],
    );
  }
  let used = 0;
  return {
    async rate(version, startMs, creditRate, creditRates) {
      await pool.query(`INSERT INTO meter_rates VALUES ($1, $2, $3, $4, $4, $5, $6)`, [
        ENVIRONMENT,
        METER,
        version,
        new Date(startMs),
        creditRate,
        creditRates ?? null,
      ]);
    },
    async budget(soft, hard, meterKey = METER) {
      await pool.query(`INSERT INTO budgets VALUES ($1, $2, $3, $4, $5, now(), now())`, [
        ENVIRONMENT,
        CUSTOMER,
        meterKey,
        soft,
        hard,
      ]);
    },
    limit: (amount, sinceMs) => subscribe(stores, amount, new Date(sinceMs)),
    async grant(amount) {
      await pool.query(`INSERT INTO credit_wallets VALUES ($1, $2, $3)`, [CUSTOMER, ENVIRONMENT, amount]);
      await pool.query(
        `INSERT INTO credit_grants VALUES ('grant_a', $1, $2, $3, $3, 'for free', 0, NULL, now())`,
        [ENVIRONMENT, CUSTOMER, amount],
      );
    },
    async use(...events) {
      const numbered = events.map((event) => {
        used += 1;
        return {
          ...{ environment: ENVIRONMENT, customerId: CUSTOMER, meterKey: METER },
          ...event,
          id: `u${used}`,
        };
      });
      await settledUpTo(stores, await stores.append(numbered));
    },
    async wallet() {
      const { rows } = await pool.query('SELECT balance, unpaid FROM credit_wallets WHERE customer_id = $1', [
        CUSTOMER,
      ]);
      const [wallet = { balance: '0', unpaid: '0' }] = rows;
      return wallet;
    },
    async told(type) {
      const { rows } = await pool.query<{ body: string }>(
        'SELECT body FROM webhook_events WHERE type = $1 ORDER BY created_at, id',
        [type],
      );
      return rows.map(({ body }) => JSON.parse(body).data);
    },
  };
}

async function subscribe({ pool }: LoadStores, amount: string | null, since: Date): Promise<void> {
  await pool.query(
    `INSERT INTO features VALUES ('feat_a', $1, 'calls-feature', 'Calls', 'metered', $2, now(), now())`,
    [ENVIRONMENT, METER],
  );
  await pool.query(`INSERT INTO products VALUES ($1, 'prod_a', 'P', now())`, [ENVIRONMENT]);
  await pool.query(
    `INSERT INTO plans (id, environment, key, name, product_id, created_at, updated_at)
     VALUES ('plan_a', $1, 'plan-a', 'Plan', 'prod_a', now(), now())`,
    [ENVIRONMENT],
  );
  await pool.query(`INSERT INTO plan_entitlements VALUES ('plan_a', 1, 'feat_a', NULL, $1, false)`, [amount]);
  await pool.query(
    `INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since,
       current_period_start, current_period_end, anchor, starts_at, created_at, updated_at)
     VALUES ('sub_a', $1, $2, 'plan_a', 'active', $3::timestamptz, $3, $3 + interval '1 month', $3, $3,
       $3, $3)`,
    [ENVIRONMENT, CUSTOMER, since],
  );
}
