import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { migratePostgres } from '../../../infra/postgres/migrate.ts';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import { databaseOfBefore } from '../../../tests/support/database-of-before.ts';
import { lockNotified } from '../../store/notified-entitlements.ts';
import { notifyCustomers } from './notify-customers.ts';

/** The last migration of the release that settled usage by the current limits. */
const BEFORE = 8;

/*
 * Red when the history of the upgrade leaves out an ended subscription, the grace, an add-on's quantity, a
 * pinned version, a plan without limit or an override with its end; when an expired grant counts as burned;
 * when a wallet is changed; or when the first change after the upgrade records the same terms again.
 */
it('a history begins with what held at the upgrade, and what burned keeps its grants', async () => {
  const { pool, url, environment } = await databaseWithRows();
  const wallets = 'SELECT customer_id, balance, unpaid FROM credit_wallets ORDER BY 1';
  const grants = 'SELECT id, amount, remaining FROM credit_grants ORDER BY 1';
  const before = [(await pool.query(wallets)).rows, (await pool.query(grants)).rows];
  await migratePostgres(url);
  expect([(await pool.query(wallets)).rows, (await pool.query(grants)).rows]).toEqual(before);

  const running = { from: '2026-11-01', period: '2026-11-01' };
  expect(await terms(pool)).toEqual([
    { customer: 'active', ...running, limits: ['100'], by: 'active1' },
    { customer: 'ended', ...running, limits: ['100'], by: 'ended1' },
    { customer: 'ended', from: '2026-11-10', period: '2026-11-10', limits: [], by: null },
    { customer: 'more', ...running, limits: ['120'], by: 'more1' },
    { customer: 'overdue', ...running, limits: ['100'], by: 'overdue1' },
    { customer: 'overdue', from: '2026-11-12', period: '2026-11-01', limits: [], by: 'overdue1' },
    { customer: 'override', from: '1970-01-01', period: '1970-01-01', limits: ['900'], by: null },
    { customer: 'override', ...running, limits: ['900'], by: 'override1' },
    { customer: 'override', from: '2026-11-28', period: '2026-11-01', limits: ['100'], by: 'override1' },
    { customer: 'pinned', ...running, limits: ['7'], by: 'pinned1' },
    { customer: 'twice', ...running, limits: ['100'], by: 'twice1' },
    { customer: 'twice', from: '2026-11-05', period: '2026-11-01', limits: ['200'], by: 'twice1' },
    { customer: 'unlimited', ...running, limits: 'unlimited', by: 'unlimited1' },
  ]);

  // 30 of the first grant and 15 expired, 50 of the second, and 12 are unpaid: 92 were burned.
  const uses = `SELECT meter_key AS meter, grant_id AS "grant", trim_scale(amount)::text AS amount
                  FROM credit_uses WHERE customer_id = 'active' ORDER BY meter_key, grant_id DESC`;
  expect((await pool.query(uses)).rows).toEqual([
    { meter: 'bytes', grant: 'g1', amount: '22.5' },
    { meter: 'calls', grant: 'g2', amount: '50' },
    { meter: 'calls', grant: 'g1', amount: '7.5' },
    { meter: 'calls', grant: '', amount: '12' },
  ]);
  const sums = `SELECT FROM (SELECT customer_id, meter_key, sum(burned) FROM credit_burns GROUP BY 1, 2) b
                FULL JOIN (SELECT customer_id, meter_key, sum(amount) FROM credit_uses GROUP BY 1, 2) u
                  USING (customer_id, meter_key, sum)
                WHERE b.customer_id IS NULL OR u.customer_id IS NULL`;
  expect((await pool.query(sums)).rows).toEqual([]);

  const written = async () =>
    (await pool.query('SELECT xmin::text, customer_id, starts_at FROM metered_terms ORDER BY 2, 3')).rows;
  const migrated = await written();
  await inTransaction(pool, async (db) => {
    const ids = ['active', 'ended', 'more', 'override', 'pinned', 'twice', 'unlimited'];
    const rows = await lockNotified(db, environment, ids);
    await notifyCustomers(db, { environment, nowMs: Date.UTC(2026, 10, 25) }, rows);
  });
  expect(await written()).toEqual(migrated);
});

async function terms(pool: Pool) {
  const { rows } = await pool.query(
    `SELECT customer_id AS customer, to_char(starts_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS "from",
            to_char(period_start AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS period, is_unlimited AS unlimited,
            ARRAY (SELECT trim_scale(amount)::text FROM unnest(limits) AS amount) AS limits,
            subscription_id AS by
       FROM metered_terms WHERE meter_key = 'calls' ORDER BY 1, 2`,
  );
  return rows.map(({ unlimited, limits, ...row }) => ({ ...row, limits: unlimited ? 'unlimited' : limits }));
}

async function databaseWithRows() {
  const { pool, url, environment } = await databaseOfBefore(BEFORE);
  await pool.query(HELD.replaceAll(':environment', `'${environment}'`));
  return { pool, url, environment };
}

const HELD = `
  INSERT INTO products (environment, id, name, created_at) VALUES (:environment, 'p', 'p', now());
  INSERT INTO meters (id, environment, key, name, aggregation)
  VALUES ('m1', :environment, 'calls', 'Calls', 'sum'), ('m2', :environment, 'bytes', 'Bytes', 'sum');
  INSERT INTO features (id, environment, key, name, type, meter_key, created_at, updated_at)
  VALUES ('calls', :environment, 'calls', 'Calls', 'metered', 'calls', now(), now());
  INSERT INTO plans (id, environment, key, name, product_id, status, version, created_at, updated_at)
  SELECT id, :environment, id, id, 'p', 'published', 2, now(), now() FROM unnest(ARRAY['pro', 'all']) AS id;
  INSERT INTO plan_entitlements (plan_id, version, feature_id, enabled, amount, soft)
  VALUES ('pro', 1, 'calls', NULL, 7, false), ('pro', 2, 'calls', NULL, 100.0, false),
         ('all', 2, 'calls', NULL, NULL, false);
  INSERT INTO addons (id, environment, key, name, created_at, updated_at)
  VALUES ('more', :environment, 'more', 'More', now(), now());
  INSERT INTO addon_entitlements (addon_id, feature_id, amount) VALUES ('more', 'calls', 10);
  INSERT INTO customers (id, environment, name, email)
  SELECT id, :environment, 'Ada', 'ada@example.com'
    FROM unnest(ARRAY['active', 'ended', 'more', 'overdue', 'override', 'pinned', 'twice',
                      'unlimited']) AS id;
  INSERT INTO subscriptions (id, environment, customer_id, plan_id, plan_version, status, status_since,
    canceled_at, anchor, current_period_start, current_period_end, interval_months, created_at, updated_at)
  SELECT customer || number, :environment, customer, plan, version, status, since::timestamptz,
         CASE status WHEN 'canceled' THEN since::timestamptz END, start::timestamptz, start::timestamptz,
         start::timestamptz + interval '1 month', 1, start::timestamptz, now()
    FROM (VALUES ('active', 1, 'pro', NULL::int, 'active', '2026-11-01Z', '2026-11-01Z'),
                 ('ended', 1, 'pro', NULL, 'canceled', '2026-11-10Z', '2026-11-01Z'),
                 ('more', 1, 'pro', NULL, 'active', '2026-11-01Z', '2026-11-01Z'),
                 ('overdue', 1, 'pro', NULL, 'past_due', '2026-11-05Z', '2026-11-01Z'),
                 ('override', 1, 'pro', NULL, 'active', '2026-11-01Z', '2026-11-01Z'),
                 ('pinned', 1, 'pro', 1, 'active', '2026-11-01Z', '2026-11-01Z'),
                 ('twice', 1, 'pro', NULL, 'active', '2026-11-01Z', '2026-11-01Z'),
                 ('twice', 2, 'pro', NULL, 'trialing', '2026-11-05Z', '2026-11-05Z'),
                 ('unlimited', 1, 'all', NULL, 'active', '2026-11-01Z', '2026-11-01Z'))
         AS new (customer, number, plan, version, status, since, start);
  INSERT INTO subscription_addons (subscription_id, addon_id, quantity) VALUES ('more1', 'more', 2);
  INSERT INTO overrides (id, environment, customer_id, feature_id, amount, expires_at, created_at, updated_at)
  VALUES ('o', :environment, 'override', 'calls', 900, '2026-11-28Z', now(), now());
  INSERT INTO entitlements_told (environment, customer_id, resolved_at, next_turn)
  SELECT :environment, id, '2026-11-20Z', CASE id WHEN 'override' THEN '2026-11-28Z'::timestamptz END
    FROM customers;
  INSERT INTO credit_wallets (customer_id, environment, balance, unpaid)
  VALUES ('active', :environment, 0, 12), ('more', :environment, 40, 0);
  INSERT INTO credit_grants
    (id, environment, customer_id, amount, remaining, reason, priority, expires_at, created_at)
  VALUES ('g2', :environment, 'active', 50, 0, 'r', 2, NULL, '2026-11-01Z'),
         ('g1', :environment, 'active', 45, 0, 'r', 1, '2026-11-20Z', '2026-11-02Z'),
         ('g3', :environment, 'more', 40, 40, 'r', 1, NULL, '2026-11-02Z');
  INSERT INTO credit_ledger
    (environment, customer_id, type, amount, unpaid, grant_id, created_at, updated_at)
  VALUES (:environment, 'active', 'expiry', -15, 0, 'g1', '2026-11-20Z', '2026-11-20Z');
  INSERT INTO credit_burns (environment, customer_id, meter_key, span_from, span_to, version, label, burned)
  VALUES (:environment, 'active', 'calls', '2026-11-01Z', '2026-12-01Z', 1, '', 69.5),
         (:environment, 'active', 'bytes', '2026-11-01Z', '2026-12-01Z', 1, '', 22),
         (:environment, 'active', 'bytes', '2026-10-01Z', '2026-11-01Z', 1, '', 0.5);
`;
