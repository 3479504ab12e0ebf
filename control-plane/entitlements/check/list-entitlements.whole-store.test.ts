import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findCustomerGrants, heldNow } from '../../../domain/find-customer-grants.ts';
import { shownEffectiveValue } from '../../../domain/rules/decide-entitlement.ts';
import { resolveEntitlements } from '../../../domain/rules/resolve-entitlements.ts';
import { exactJson, parseExact } from '../../../schemas/primitives/exact-json.ts';
import { lockOut, lockWaits } from '../../../tests/support/lock-waits.ts';
import { startStopwatch } from '../../../tests/support/stopwatch.ts';
import { apiOfThisFile, expectRejection } from '../../api-under-test.ts';
import type { Database } from '../../http/request-context.ts';
import { createCustomerGrantsReads } from '../cache/customer-grants-reads.ts';
import { fanoutJobs } from '../changes/changes-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';

/*
 * Postgres adds up the list; here it is compared with the rules that checks use. Also how slow reads of
 * customer grants affect other customers.
 *
 * Mutants this suite catches: in control-plane/store/granted-features.ts the quantity or the number of
 * subscriptions left out, a sum where one is unlimited, sources by name, all sources of a boolean, the newest
 * version for a pinned one; all subscriptions in place of those that count; an override that has expired, or
 * is added to the rest; contributions without their count, or of what an unlimited value does not come from.
 * In customer-grants-reads.ts a snapshot per statement, no semaphore, no limit of a statement, or a wait for
 * the semaphore inside a transaction.
 */
const FEATURES = { sso: 'boolean', audit: 'boolean', seats: 'limit', storage: 'limit', calls: 'metered' };

const api = await apiOfThisFile();
const made = customerGrantsUnderTest(api);
await api.request('meters.create', { body: { key: 'calls', name: 'Calls', aggregation: 'sum' } });
for (const [key, type] of Object.entries(FEATURES)) {
  await made.feature(key, type, type === 'metered' ? 'calls' : undefined);
}
const plans = [
  await made.plan({ seats: 1, sso: false }),
  await made.plan({ seats: 0.1, storage: null, sso: true }),
];
for (const planId of plans) await api.request('plans.publish', { params: { planId } });
await made.giveInstead(plans[0] as string, { seats: 10, calls: 5, audit: true });
const addons = [
  await made.addon('z-first', { seats: 2.5, sso: false, audit: false, calls: 0.000000000001 }),
  await made.addon('more', { storage: 7, calls: null }),
  await made.addon('flags', { sso: true, seats: 999_999_999_999 }),
];

const subscription = fc.record({
  plan: fc.nat(1),
  planVersion: fc.constantFrom(undefined, 1),
  status: fc.constantFrom(
    'active',
    'active',
    'trialing',
    'past_due',
    'unpaid',
    'paused',
    'canceled',
    'overdue',
  ),
  addons: fc.uniqueArray(fc.record({ addon: fc.nat(2), quantity: fc.integer({ min: 1, max: 1_000_000 }) }), {
    selector: ({ addon }) => addon,
  }),
});

type Subscribed = typeof subscription extends fc.Arbitrary<infer One> ? One : never;

const overridden = fc.record({
  feature: fc.constantFrom(...Object.keys(FEATURES)),
  amount: fc.constantFrom(null, 0, 0.5, 12),
  enabled: fc.boolean(),
  isExpired: fc.boolean(),
});

type Overridden = typeof overridden extends fc.Arbitrary<infer One> ? One : never;

async function override(customerId: string, { feature, amount, enabled }: Overridden): Promise<void> {
  const value = FEATURES[feature as keyof typeof FEATURES] === 'boolean' ? enabled : amount;
  await made.override(customerId, feature, { value, expiresAt: '2099-01-01T00:00:00Z' });
}

async function customerWith(subscriptions: Subscribed[], overrides: Overridden[]): Promise<string> {
  const customerId = await made.customer();
  for (const one of overrides) await override(customerId, one);
  const expired = overrides.filter(({ isExpired }) => isExpired).map(({ feature }) => feature);
  await api.pool.query(
    `UPDATE overrides SET expires_at = now() - interval '1 second'
      WHERE customer_id = $1 AND feature_id IN (SELECT id FROM features WHERE key = ANY ($2))`,
    [customerId, expired],
  );
  for (const { plan, planVersion, status, addons: attached } of subscriptions) {
    const id = await made.subscribe(
      customerId,
      {},
      {
        planId: plans[plan],
        ...(planVersion === undefined ? {} : { planVersion }),
        addons: attached.map(({ addon, quantity }) => ({ addonId: addons[addon], quantity })),
      },
    );
    const since = status === 'overdue' ? "now() - interval '30 days'" : 'now()';
    await api.pool.query(
      `UPDATE subscriptions SET status = $2, status_since = ${since},
              canceled_at = CASE WHEN $2 = 'canceled' THEN now() - interval '1 second' END
        WHERE id = $1`,
      [id, status === 'overdue' ? 'past_due' : status],
    );
  }
  return customerId;
}

const held = fc.uniqueArray(overridden, { selector: ({ feature }) => feature, maxLength: 3 });

describe("the list of a customer's entitlements", () => {
  it('has for every feature the value of the rules that checks use', { timeout: 240_000 }, async () => {
    const { rows } = await api.pool.query<{ id: string }>('SELECT id FROM features');
    const featureIds = rows.map(({ id }) => id);
    const { environment } = api;
    await fc.assert(
      fc.asyncProperty(fc.array(subscription, { maxLength: 6 }), held, async (subscriptions, overrides) => {
        const customer = await customerWith(subscriptions, overrides);
        const atMs = Date.now();
        const question = { environment, customer, atMs, featureIds, meterKeys: [] };
        const withGrants = await findCustomerGrants(api.pool, question);
        if (!withGrants) throw new Error('the customer is missing');
        const { features } = resolveEntitlements(heldNow(withGrants), atMs);
        const expected = [...features].map(([featureKey, { type, value, sources, contributions }]) => {
          const effectiveValue = shownEffectiveValue(value);
          return { featureKey, type, effectiveValue, sources, contributions: marked(contributions) };
        });
        const { text } = await api.request('entitlements.list', { params: { customerId: customer } });
        const byKey = expected.sort((a, b) => (a.featureKey < b.featureKey ? -1 : 1));
        expect(parseExact(text)).toEqual(byKey);
      }),
      { numRuns: 40 },
    );
  });
});

/** Every number in it as a marked string. */
function marked(contributions: unknown): unknown {
  return parseExact(exactJson(contributions));
}

it('reads all from one snapshot, whatever is committed meanwhile', async () => {
  const { environment } = api;
  const counts = await createCustomerGrantsReads()({ db: api.pool, environment }, async (db) => {
    const before = await customers(db);
    await made.customer();
    return [before, await customers(db)];
  });
  expect(counts[1]).toBe(counts[0]);
  expect(await customers(api.pool)).toBe((counts[0] ?? 0) + 1);
});

async function customers(db: Database): Promise<number> {
  const { rows } = await db.query<{ made: number }>('SELECT count(*) AS made FROM customers');
  return rows[0]?.made ?? 0;
}

describe('slow reads of customer grants', () => {
  it('end at their time limit, and leave the pool to other requests', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { sso: true });
    // A read of one override also reads what plans give.
    await expect.poll(() => fanoutJobs(api.pool), { timeout: 20_000 }).toBe(0);
    const release = await lockOut(api.pool, 'plan_entitlements');
    try {
      const startedMs = performance.now();
      const lists = Array.from({ length: 40 }, () =>
        api.request('entitlements.list', { params: { customerId } }),
      );
      const responses = Promise.all(lists);
      await expect.poll(() => lockWaits(api.pool), { interval: 20, timeout: 5_000 }).toBe(4);
      const passedMs = startStopwatch();
      expect((await api.request('workspace.retrieve')).status).toBe(200);
      const features = [{ featureKey: 'sso' }];
      const headers = { 'idempotency-key': 'held-up' };
      const kept = await api.request('entitlements.checkMany', { body: { customerId, features }, headers });
      expectRejection(kept, 'overloaded');
      expect(passedMs()).toBeLessThan(1_900);
      const codes = (await responses).map(({ body }) => (body as unknown as Rejected).error.code);
      expect(performance.now() - startedMs).toBeLessThan(6_000);
      expect(codes.filter((code) => code === 'unavailable')).toHaveLength(4);
      expect(codes.filter((code) => code === 'overloaded')).toHaveLength(36);
    } finally {
      await release();
    }
    expect(await made.list(customerId)).toHaveLength(1);
  });
});

interface Rejected {
  error: { code: string };
}
