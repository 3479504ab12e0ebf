import type { Pool } from 'pg';
import { addMonths } from '../../domain/rules/billing-period.ts';
import {
  type MeteredFacts,
  type MeteredSource,
  termAfter,
  UNMETERED,
} from '../../domain/rules/metered-terms.ts';
import { readTermsOfCustomers, replaceMeteredTerms } from '../../domain/store/metered-terms.ts';
import { markMeters } from '../../domain/store/settlement-marks.ts';
import type { TouchedCustomerMeter } from '../../schemas/stored/frame.ts';
import { AGGREGATIONS } from '../../schemas/usage-limits.ts';
import type { Resets } from '../../schemas/value-sets.ts';
import { TEST_NOW_MS } from '../../tests/support/event-line.ts';
import type { LoggedEvent } from '../../tests/support/load-frames.ts';
import { type LoadStores, openLoadStores } from '../../tests/support/load-stores.ts';
import { appendSettled } from '../aggregator-under-test.ts';
import type { Place } from '../store/leases.ts';
import { freezeRange, markLoaded, type Range } from '../store/ranges.ts';

export const ENVIRONMENT = 'ws_a:live';
export const CUSTOMER = 'cus_a';
export const METER = 'calls';

/** A customer, a sum meter and one of every other kind; what they have is added by the test. */
export interface Tenant {
  rate(version: number, startMs: number, creditRate: string | null, creditRates?: object): Promise<void>;
  budget(soft: string | null, hard: string | null, meterKey?: string): Promise<void>;
  /** From then on a subscription gives so much of the meter; null is unlimited, undefined ends it. */
  limit(amount: string | null | undefined, sinceMs: number, resets?: Resets): Promise<void>;
  grant(amount: string): Promise<void>;
  /** Puts usage on the log, and waits until it is settled. */
  use(...events: Array<Partial<LoggedEvent>>): Promise<void>;
  wallet(): Promise<{ balance: string; unpaid: string }>;
  /** The emitted events of this type, in order. */
  notified(type: string): Promise<Array<Record<string, unknown>>>;
}

/** One on stores of its own, for the running test. */
export async function openTenant(): Promise<{ stores: LoadStores; tenant: Tenant }> {
  const stores = await openLoadStores();
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
  const tenant: Tenant = {
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
    async limit(amount, sinceMs, resets) {
      await pool.query(SUBSCRIPTION, [ENVIRONMENT, CUSTOMER, new Date(sinceMs)]);
      const meter = { environment: ENVIRONMENT, customerId: CUSTOMER, meterKey: METER };
      const before = await readTermsOfCustomers(pool, ENVIRONMENT, [
        { customerId: CUSTOMER, from: new Date(sinceMs) },
      ]);
      const source = before.at(-1)?.source ?? sourceSince(sinceMs);
      const term = termAfter(before, factsOf(amount, source, resets), sinceMs);
      if (term)
        await replaceMeteredTerms(pool, [{ ...meter, from: new Date(sinceMs) }], [{ ...meter, ...term }]);
      const from = before.at(-1)?.periodStartMs ?? sinceMs - 1;
      await markMeters(pool, [{ ...meter, from: new Date(from) }]);
    },
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
          environment: ENVIRONMENT,
          customerId: CUSTOMER,
          meterKey: METER,
          ...event,
          id: `u${used}`,
        };
      });
      await appendSettled(stores, numbered);
    },
    async wallet() {
      const { rows } = await pool.query('SELECT balance, unpaid FROM credit_wallets WHERE customer_id = $1', [
        CUSTOMER,
      ]);
      const [wallet = { balance: '0', unpaid: '0' }] = rows;
      return wallet;
    },
    async notified(type) {
      const { rows } = await pool.query<{ body: string }>(
        'SELECT body FROM webhook_events WHERE type = $1 ORDER BY created_at, id',
        [type],
      );
      return rows.map(({ body }) => JSON.parse(body).data);
    },
  };
  return { stores, tenant };
}

/** Used at the time of the tests. */
export const TOUCHED: TouchedCustomerMeter = {
  environment: ENVIRONMENT,
  customerId: CUSTOMER,
  meterKey: METER,
  occurredFromMs: TEST_NOW_MS,
  occurredToMs: TEST_NOW_MS,
};

export const PLACE: Place = { logId: 'aa', partition: 0 };

/** A range of ten bytes in that place, under its first lease. */
export async function loadedRange(pool: Pool, lo: number): Promise<Range> {
  const counts = { eventCount: 1, dropped: [], checksum: 1, throughMs: 1 };
  const range: Range = { ...PLACE, lo, hi: lo + 10, epoch: 1, ...counts };
  await freezeRange(pool, range);
  await markLoaded(pool, range);
  return range;
}

/** For the history to name one. */
const SUBSCRIPTION = `
  WITH product AS (
         INSERT INTO products VALUES ($1, 'prod_a', 'P', now()) ON CONFLICT DO NOTHING RETURNING id),
       feature AS (
         INSERT INTO features
         VALUES ('feat_a', $1, 'calls-feature', 'Calls', 'metered', 'calls', now(), now())
             ON CONFLICT DO NOTHING RETURNING id),
       plan AS (
         INSERT INTO plans (id, environment, key, name, product_id, created_at, updated_at)
         VALUES ('plan_a', $1, 'plan-a', 'Plan', 'prod_a', now(), now()) ON CONFLICT DO NOTHING RETURNING id)
  INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since,
      current_period_start, current_period_end, anchor, starts_at, created_at, updated_at)
    VALUES ('sub_a', $1, $2, 'plan_a', 'active', $3::timestamptz, $3, $3 + interval '1 month', $3, $3, $3,
      $3)
    ON CONFLICT DO NOTHING`;

function sourceSince(fromMs: number): MeteredSource {
  return {
    subscriptionId: 'sub_a',
    period: { fromMs, toMs: addMonths(fromMs, 1) },
    cycle: { anchorMs: fromMs, interval: 'month', intervalCount: 1 },
  };
}

function factsOf(
  amount: string | null | undefined,
  source: MeteredSource,
  resets: Resets = 'billing_period',
): MeteredFacts {
  if (amount === undefined) return UNMETERED;
  return { source, limits: amount === null ? [] : [{ amount, resets }], isUnlimited: amount === null };
}
