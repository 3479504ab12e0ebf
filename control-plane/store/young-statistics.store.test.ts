import type { Pool, PoolClient } from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { readCustomerGrants } from '../../domain/store/customer-grants.ts';
import { apiOfThisFile, apiOfThisTest } from '../api-under-test.ts';
import { FANOUT_MEMBERS } from './fanout-members.ts';
import { countFunnelSessions } from './funnel-events.ts';
import { readMarks } from './grant-versions.ts';
import { readGrantedFeatures } from './granted-features.ts';
import { readGrantedValues } from './granted-values.ts';
import { findExpired } from './overrides.ts';
import { rowsRead } from './rows-read-under-test.ts';

/*
 * An environment that was filled since statistics were taken, so that by them it has no rows: after an
 * import, until the next ANALYZE. Statements that read many rows by key read no more rows than with fresh
 * statistics.
 *
 * Mutants this suite catches: a customer, its subscriptions or its overrides read by their environment as
 * well, for notifications, for marks or for members; its add-ons by theirs; a search for the subscription of
 * each session.
 */
const MANY = 10_000;
const BORN = new Date('2026-11-01T00:00:00Z');
const LATER = new Date('2026-11-03T00:00:00Z');

const api = await apiOfThisFile();
await crowd(api.pool, api.environment, MANY);
await api.pool.query('ANALYZE');
const environment = `${(await api.addWorkspace()).workspaceId}:live`;
await crowd(api.pool, environment, MANY);
const customers = await customerIdsOf(api.pool, environment, 500);

describe('where statistics do not know the environment', () => {
  /** However many rows the environment has. */
  const rowsOf = (table: string, reading: (db: PoolClient) => Promise<void>) =>
    rowsRead(api.pool, table, reading);

  it.each(['customers', 'subscriptions', 'overrides'])(
    'of %s are read those that are notified',
    async (table) => {
      const requested = customers.map((customerId) => ({ customerId, at: LATER }));
      const read = await rowsOf(table, async (db) => {
        expect(await readGrantedValues(db, environment, requested)).toHaveLength(500);
      });
      expectAFew(read, 500);
    },
  );

  it('customer grants are read by the customer alone', async () => {
    const question = { customers: customers.slice(0, 300), at: LATER, meterKeys: [], featureIds: [] };
    const read = await rowsOf('subscriptions', async (db) => {
      expect(await readCustomerGrants(db, environment, question)).toHaveLength(300);
    });
    expectAFew(read, 300);
  });

  it('overrides that have expired are found by their customers', async () => {
    const spans = customers.map((customerId) => ({ customerId, after: BORN, upTo: LATER }));
    const read = await rowsOf('overrides', async (db) => {
      expect(await findExpired(db, environment, spans)).toHaveLength(500);
    });
    expectAFew(read, 500);
  });

  it('the sessions of the funnel are read once', async () => {
    const read = await rowsOf('subscriptions', async (db) => {
      const counted = await countFunnelSessions(db, environment, { from: BORN, to: LATER, planId: null });
      expect(counted).toEqual({ viewed: 0, started: MANY, activated: MANY });
    });
    expectAFew(read, MANY);
  });
});

describe('where there are no statistics', () => {
  let place: Awaited<ReturnType<typeof placeUnderTest>>;
  beforeEach(async () => {
    place = await placeUnderTest();
    await crowd(place.pool, place.environment, 2_000);
  });

  it("customers' marks are read by what is theirs alone", async () => {
    const { environment } = place;
    const requested = (await place.customerIds(100)).map((customerId) => ({ environment, customerId }));
    const read = await place.rowsRead('subscriptions', async (db) => {
      expect(await readMarks(db, requested)).toHaveLength(100);
    });
    expect(read).toBe(100);
  });

  it('customer grants are read by the attached add-ons alone', async () => {
    const { environment } = place;
    await place.pool.query(
      `WITH new AS (
         INSERT INTO addons (id, environment, key, name, created_at, updated_at)
         SELECT 'addon_' || n, $1, 'a' || n, 'a', now(), now() FROM generate_series(1, 1000) AS n
         RETURNING id)
       INSERT INTO addon_entitlements (addon_id, feature_id, amount)
       SELECT id, 'feat_' || $1, 1 FROM new UNION ALL VALUES ('addon_' || $1, 'feat_' || $1, 1)`,
      [environment],
    );
    const customers = await place.customerIds(100);
    const requested = { customers, at: LATER, meterKeys: [], featureIds: 'all' as const };
    const read = await place.rowsRead('addons', async (db) => {
      const held = await readCustomerGrants(db, environment, requested);
      expect(held).toHaveLength(100);
      await readGrantedFeatures(
        db,
        environment,
        held.map(({ subscriptionId }) => String(subscriptionId)),
      );
    });
    expect(read).toBeLessThanOrEqual(200);
  });
});

it('customers with an add-on are found by it alone with statistics of an empty installation', async () => {
  const place = await placeUnderTest();
  await crowd(place.pool, `${place.workspaceId}:test`, 1);
  await place.pool.query('ANALYZE');
  await crowd(place.pool, place.environment, 2_000);
  const read = await place.rowsRead('subscriptions', async (db) => {
    const from = { position: '', roundTo: '', isRound: false, revision: 1, changedAt: new Date() };
    const job = { environment: place.environment, ...from };
    const target = `addon_${place.environment}`;
    expect(await FANOUT_MEMBERS.addon(db, { ...job, scope: 'addon', target }, 500)).toHaveLength(500);
  });
  expect(read).toBe(500);
});

/** A row is read in its index and in its table, and by more than one part of a statement. */
function expectAFew(read: number, rows: number): void {
  expect(read).toBeGreaterThanOrEqual(rows);
  expect(read).toBeLessThanOrEqual(5 * rows);
}

/** In a separate database. */
async function placeUnderTest() {
  const { keys, pool } = await apiOfThisTest();
  const environment = `${keys.workspaceId}:live`;
  return {
    pool,
    environment,
    workspaceId: keys.workspaceId,
    customerIds: (limit: number) => customerIdsOf(pool, environment, limit),
    rowsRead: (table: string, reading: (db: PoolClient) => Promise<void>) => rowsRead(pool, table, reading),
  };
}

async function customerIdsOf(pool: Pool, environment: string, limit: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT id FROM customers WHERE environment = $1 ORDER BY id LIMIT $2',
    [environment, limit],
  );
  return rows.map(({ id }) => id);
}

/** Customers of one plan and add-on, each with a session of the funnel and an override that expires. */
async function crowd(pool: Pool, environment: string, many: number): Promise<void> {
  await pool.query(
    `WITH ids AS (SELECT md5($1 || n) AS id, $2::timestamptz + n * interval '1 s' AS born
                    FROM generate_series(1, $3::int) AS n),
     product AS (INSERT INTO products VALUES ($1, 'p', 'p', $2)),
     plan AS (
       INSERT INTO plans (id, environment, key, name, product_id, status, created_at, updated_at)
       VALUES ('plan_' || $1, $1, 'p', 'p', 'p', 'published', $2, $2)),
     feature AS (
       INSERT INTO features (id, environment, key, name, type, created_at, updated_at)
       VALUES ('feat_' || $1, $1, 'seats', 'Seats', 'limit', $2, $2)),
     customer AS (
       INSERT INTO customers (id, environment, name, email, created_at)
       SELECT 'cus_' || id, $1, 'Ada', 'ada@example.com', born FROM ids),
     subscription AS (
       INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since, anchor,
         current_period_start, current_period_end, starts_at, metadata, created_at, updated_at)
       SELECT 'sub_' || id, $1, 'cus_' || id, 'plan_' || $1, 'active', born, born, born,
              born + interval '1 month', born, jsonb_build_object('sessionId', id), born, born FROM ids),
     addon AS (
       INSERT INTO addons (id, environment, key, name, created_at, updated_at)
       VALUES ('addon_' || $1, $1, 'a', 'a', $2, $2)),
     attached AS (
       INSERT INTO subscription_addons (subscription_id, addon_id, quantity)
       SELECT 'sub_' || id, 'addon_' || $1, 1 FROM ids),
     override AS (
       INSERT INTO overrides (id, environment, customer_id, feature_id, amount, expires_at, created_at,
                              updated_at)
       SELECT 'ovr_' || id, $1, 'cus_' || id, 'feat_' || $1, 5, $2::timestamptz + interval '1 day', born, born
         FROM ids)
     INSERT INTO funnel_events (id, environment, event, session_id, created_at)
     SELECT 'fun_' || id, $1, 'checkout_started', id, born FROM ids`,
    [environment, BORN, many],
  );
}
