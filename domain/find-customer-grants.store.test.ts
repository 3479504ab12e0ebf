import { describe, expect, it } from 'vitest';
import { poolOfThisFile } from '../tests/support/test-pool.ts';
import {
  findCustomerGrants,
  findManyCustomerGrants,
  heldNow,
  type RequestedGrants,
} from './find-customer-grants.ts';

/*
 * The grants of one and of many customers at once, from a real Postgres.
 *
 * Mutants that turn it red: the environment left out; overrides of one customer given to another, or on every
 * row; `all` read as none; an ended subscription left out although it was active at the given time.
 */
const AT = new Date('2026-11-21T12:00:00Z');
const ENVIRONMENT = 'ws_a:live';

/** Three customers, and in the other mode one with the external id of the first. */
const CATALOGUE = `
INSERT INTO workspaces (id, name, past_due_grace_days) VALUES ('ws_a', 'A', 3);
INSERT INTO environments VALUES ('ws_a:live', 'ws_a', 'live'), ('ws_a:test', 'ws_a', 'test');
INSERT INTO customers (id, environment, external_id, name, email, status) VALUES
  ('cus_a', 'ws_a:live', 'ada', 'A', 'a@example.com', 'active'),
  ('cus_b', 'ws_a:live', NULL, 'B', 'b@example.com', 'archived'),
  ('cus_c', 'ws_a:live', NULL, 'C', 'c@example.com', 'active'),
  ('cus_t', 'ws_a:test', 'ada', 'T', 't@example.com', 'active');
INSERT INTO meters (id, environment, key, name, aggregation) VALUES
  ('meter_m', 'ws_a:live', 'm', 'M', 'sum');
INSERT INTO features (id, environment, key, name, type, meter_key, created_at, updated_at) VALUES
  ('feat_sso', 'ws_a:live', 'sso', 'SSO', 'boolean', NULL, now(), now()),
  ('feat_seats', 'ws_a:live', 'seats', 'Seats', 'limit', NULL, now(), now()),
  ('feat_calls', 'ws_a:live', 'calls', 'Calls', 'metered', 'm', now(), now());
INSERT INTO products (environment, id, name, created_at) VALUES ('ws_a:live', 'p', 'P', now());
INSERT INTO plans (id, environment, key, name, product_id, created_at, updated_at) VALUES
  ('plan_p', 'ws_a:live', 'pro', 'Pro', 'p', now(), now());
INSERT INTO plan_entitlements (plan_id, version, feature_id, enabled, amount) VALUES
  ('plan_p', 1, 'feat_sso', true, NULL), ('plan_p', 1, 'feat_calls', NULL, 10);
INSERT INTO subscriptions (id, environment, customer_id, plan_id, status, status_since, current_period_start,
                           current_period_end, anchor, starts_at, canceled_at, created_at, updated_at)
SELECT id, 'ws_a:live', customer_id, 'plan_p', status, day, day, day + interval '1 month', day, day, ended,
       day, day
  FROM (VALUES
    ('sub_1', 'cus_a', 'active', timestamptz '2026-11-01Z', NULL::timestamptz),
    ('sub_2', 'cus_a', 'canceled', timestamptz '2026-10-01Z', timestamptz '2026-11-21T12:00:00.001Z'),
    ('sub_3', 'cus_a', 'canceled', timestamptz '2026-10-01Z', timestamptz '2026-11-21T12:00:00Z'),
    ('sub_4', 'cus_b', 'past_due', timestamptz '2026-11-01Z', NULL::timestamptz)
  ) AS made (id, customer_id, status, day, ended);
INSERT INTO overrides (id, environment, customer_id, feature_id, enabled, amount, expires_at, created_at,
                       updated_at) VALUES
  ('ovr_1', 'ws_a:live', 'cus_a', 'feat_sso', false, NULL, '2026-11-22T00:00:00.007Z', now(), now()),
  ('ovr_2', 'ws_a:live', 'cus_a', 'feat_seats', NULL, 2.5, NULL, now(), now()),
  ('ovr_3', 'ws_a:live', 'cus_c', 'feat_calls', NULL, NULL, NULL, now(), now());`;

const pool = await poolOfThisFile();
await pool.query(CATALOGUE);

const ALL: RequestedGrants = { featureIds: 'all', meterKeys: [] };
const question = { environment: ENVIRONMENT, atMs: AT.getTime() };

describe('customer grants', () => {
  it('are found with all that they hold, each with its own', async () => {
    const customerIds = ['cus_c', 'cus_b', 'cus_a', 'cus_t', 'cus_gone'];
    const found = await findManyCustomerGrants(pool, { ...question, customerIds, ...ALL });
    expect([...found.keys()].sort()).toEqual(['cus_a', 'cus_b', 'cus_c']);
    const a = found.get('cus_a');
    expect(a).toMatchObject({ isArchived: false, customerGrants: { graceMs: 3 * 86_400_000 } });
    expect(a?.customerGrants.subscriptions.map(({ id }) => id)).toEqual(['sub_2', 'sub_1']);
    expect(a?.customerGrants.subscriptions[0]?.grants.map(({ featureKey }) => featureKey).sort()).toEqual([
      'calls',
      'sso',
    ]);
    expect(a?.customerGrants.overrides).toEqual([
      { featureKey: 'seats', type: 'limit', meterKey: null, value: '2.5', resets: null, expiresAtMs: null },
      {
        featureKey: 'sso',
        type: 'boolean',
        meterKey: null,
        value: false,
        resets: null,
        expiresAtMs: Date.parse('2026-11-22T00:00:00.007Z'),
      },
    ]);
    expect(found.get('cus_b')).toMatchObject({ isArchived: true, customerGrants: { overrides: [] } });
    expect(found.get('cus_c')?.customerGrants).toMatchObject({
      subscriptions: [],
      overrides: [{ featureKey: 'calls', meterKey: 'm', value: null }],
    });
  });

  it('include the requested grants and overrides, by feature or by meter', async () => {
    const held = async (requested: { featureIds: string[]; meterKeys: string[] }) => {
      const customers = await findManyCustomerGrants(pool, {
        ...question,
        customerIds: ['cus_a', 'cus_c'],
        ...requested,
      });
      return [...customers.values()].map(({ customerGrants: { subscriptions, overrides } }) => [
        subscriptions.map(({ grants }) => grants.map(({ featureKey }) => featureKey)),
        overrides.map(({ featureKey }) => featureKey),
      ]);
    };
    expect(await held({ featureIds: [], meterKeys: ['m'] })).toEqual([
      [[['calls'], ['calls']], []],
      [[], ['calls']],
    ]);
    expect(await held({ featureIds: ['feat_sso'], meterKeys: [] })).toEqual([
      [[['sso'], ['sso']], ['sso']],
      [[], []],
    ]);
    expect(await held({ featureIds: [], meterKeys: [] })).toEqual([
      [[[], []], []],
      [[], []],
    ]);
  });

  it('are found one by one, by id or external id, as they are found together', async () => {
    const together = await findManyCustomerGrants(pool, {
      ...question,
      customerIds: ['cus_a', 'cus_b'],
      ...ALL,
    });
    for (const customer of ['cus_a', 'cus_b']) {
      expect(await findCustomerGrants(pool, { ...question, customer, ...ALL })).toEqual(
        together.get(customer),
      );
    }
    expect((await findCustomerGrants(pool, { ...question, customer: 'ada', ...ALL }))?.customerId).toBe(
      'cus_a',
    );
    expect(await findCustomerGrants(pool, { ...question, customer: 'cus_t', ...ALL })).toBeUndefined();
  });

  it('hold nothing that entitles them when they are archived', async () => {
    const customer = await findCustomerGrants(pool, { ...question, customer: 'cus_b', ...ALL });
    expect(customer?.customerGrants.subscriptions).toHaveLength(1);
    expect(customer && heldNow(customer)).toMatchObject({ subscriptions: [], overrides: [] });
  });
});
