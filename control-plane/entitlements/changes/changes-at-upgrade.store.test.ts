import { expect, it } from 'vitest';
import { migratePostgres } from '../../../infra/postgres/migrate.ts';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import { databaseOfBefore } from '../../../tests/support/database-of-before.ts';
import { notifiedUnderTest } from './changes-under-test.ts';
import { touchEntitlements } from './touch-entitlements.ts';

/** Of the release that emitted no entitlement events. */
const BEFORE = 3;

/*
 * Red when the migration leaves out a status, the grace, a pinned version, an add-on's quantity, archived
 * customers, or everything: then the first change of a customer notifies it of all its entitlements.
 */
it('entitlements at the upgrade count as notified: the first event is of the first change', async () => {
  const { pool, url, environment } = await databaseOfBefore(BEFORE);
  await pool.query(CUSTOMER_GRANTS.replaceAll(':environment', `'${environment}'`));
  await migratePostgres(url);

  const notified = notifiedUnderTest(pool, environment);
  expect(await notified.untrue()).toEqual([]);
  const { rows } = await pool.query<{ id: string; notified: object; turns: boolean }>(
    `SELECT customer_id AS id, told AS notified, next_turn IS NOT NULL AS turns
       FROM entitlements_told ORDER BY 1`,
  );
  const granted = { sso: true, seats: '5', soft: '0', storage: null };
  expect(rows).toEqual([
    { id: 'active', notified: granted, turns: false },
    { id: 'in-grace', notified: granted, turns: true },
    { id: 'overdue', notified: {}, turns: false },
    { id: 'pinned', notified: { seats: '0.5' }, turns: false },
    { id: 'trialing', notified: { ...granted, seats: '12.5' }, turns: false },
    { id: 'twice', notified: { ...granted, seats: '10' }, turns: false },
  ]);

  await inTransaction(pool, async (db) => {
    await db.query(`UPDATE subscriptions SET status = 'paused' WHERE customer_id = 'pinned'`);
    const context = { db, environment, actor: 'key', operationId: 'test', nowMs: Date.now() };
    await touchEntitlements(context, { customerIds: ['active', 'pinned', 'twice'] });
  });
  expect(await notified.events('pinned')).toMatchObject([{ featureKey: 'seats', allowed: false }]);
  for (const id of ['active', 'twice']) expect(await notified.events(id)).toEqual([]);
});

/** Every kind of entitlement of an earlier release; the add-on gives `seats` a second time. */
const CUSTOMER_GRANTS = `
  INSERT INTO products (environment, id, name, created_at) VALUES (:environment, 'p', 'p', now());
  INSERT INTO features (id, environment, key, name, type, created_at, updated_at)
  SELECT key, :environment, key, key, type, now(), now()
    FROM (VALUES ('sso', 'boolean'), ('seats', 'limit'), ('storage', 'limit'), ('off', 'boolean'),
                 ('none', 'limit'), ('soft', 'limit')) AS new (key, type);
  INSERT INTO plans (id, environment, key, name, product_id, status, version, created_at, updated_at)
  VALUES ('pro', :environment, 'pro', 'Pro', 'p', 'published', 2, now(), now());
  INSERT INTO plan_entitlements (plan_id, version, feature_id, enabled, amount, soft)
  VALUES ('pro', 1, 'seats', NULL, 0.5, false), ('pro', 2, 'seats', NULL, 5.000, false),
         ('pro', 2, 'sso', true, NULL, false), ('pro', 2, 'off', false, NULL, false),
         ('pro', 2, 'storage', NULL, NULL, false), ('pro', 2, 'none', NULL, 0, false),
         ('pro', 2, 'soft', NULL, 0, true);
  INSERT INTO addons (id, environment, key, name, created_at, updated_at)
  VALUES ('more', :environment, 'more', 'More', now(), now());
  INSERT INTO addon_entitlements (addon_id, feature_id, amount) VALUES ('more', 'seats', 2.5);
  INSERT INTO customers (id, environment, name, email, status)
  SELECT id, :environment, 'Ada', 'ada@example.com', CASE id WHEN 'archived' THEN 'archived' ELSE 'active' END
    FROM unnest(ARRAY['active', 'trialing', 'in-grace', 'overdue', 'pinned', 'twice', 'archived', 'paused',
                      'canceled', 'nothing']) AS id;
  INSERT INTO subscriptions (id, environment, customer_id, plan_id, plan_version, status, status_since,
    anchor, current_period_start, current_period_end, interval_months, created_at, updated_at)
  SELECT customer || number, :environment, customer, 'pro', version, status, now() - since * interval '1 day',
         now(), now(), now() + interval '1 month', 1, now(), now()
    FROM (VALUES ('active', 1, NULL::int, 'active', 0), ('trialing', 1, NULL, 'trialing', 0),
                 ('in-grace', 1, NULL, 'past_due', 6), ('overdue', 1, NULL, 'past_due', 8),
                 ('pinned', 1, 1, 'active', 0), ('twice', 1, NULL, 'active', 0),
                 ('twice', 2, NULL, 'trialing', 0), ('archived', 1, NULL, 'active', 0),
                 ('paused', 1, NULL, 'paused', 0), ('canceled', 1, NULL, 'canceled', 0))
         AS new (customer, number, version, status, since);
  INSERT INTO subscription_addons (subscription_id, addon_id, quantity) VALUES ('trialing1', 'more', 3);
`;
