import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Warehouse } from '../../../infra/ports/warehouse.ts';
import { inTransaction } from '../../../infra/postgres/pool.ts';
import { Transient } from '../../../schemas/failures.ts';
import { RESETS } from '../../../schemas/value-sets.ts';
import { startStopwatch } from '../../../tests/support/stopwatch.ts';
import { lockNotified } from '../../store/notified-entitlements.ts';
import { isoText, usageOfThisFile } from '../../usage/usage-under-test.ts';
import { fanoutJobs } from '../changes/changes-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';
import { secondControlPlaneOfThisFile } from '../second-control-plane-under-test.ts';

/*
 * Metered decisions from the cache over a real log, Postgres and ClickHouse, on a second control plane next
 * to the one that makes every change. Mutants this suite catches: a counter that is read only once; `asOf`
 * that advances without ClickHouse, or includes what is not counted; credits of an earlier read; any part of
 * the values of the stores left out.
 */
const DAY_MS = 86_400_000;

let isUnavailable = false;

const usage = await usageOfThisFile();
const { reader, warehouse } = usage.stores;
const made = customerGrantsUnderTest(usage.api);
const failingWarehouse: Warehouse = {
  ...warehouse,
  query: (statement) =>
    isUnavailable
      ? Promise.reject(new Transient('warehouse_unavailable', 'ClickHouse is unavailable.'))
      : warehouse.query(statement),
};
const plane = await secondControlPlaneOfThisFile(usage.api, {
  warehouse: failingWarehouse,
  logReader: reader,
});
await made.feature('sum-feature', 'metered', 'sum');
await made.feature('max-feature', 'metered', 'max');

beforeEach(() => {
  isUnavailable = false;
});

let happened = 0;

/** One event of 1 for the meter `sum`, acknowledged and not counted yet. */
async function use(customerId: string) {
  happened += 1;
  const occurredAtMs = Date.now();
  const happening = { id: `used ${happened}`, units: 10n ** 12n, occurredAtMs, createdAtMs: occurredAtMs };
  const logged = usage.logged({ ...happening, properties: {} }, 'sum');
  return usage.append([{ ...logged, customerId }]);
}

async function decide(customerId: string, query = '') {
  return (await plane.check(customerId, 'sum-feature', query)).decision;
}

describe('a cached check of a metered feature', () => {
  it('reads no store, and follows the counters within 2 s', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { 'sum-feature': 3 });
    const contributions = [{ source: expect.stringMatching(/^plan:/), value: 3 }];
    expect(await decide(customerId)).toMatchObject({ allowed: true, current: 0, contributions });
    // The notification of the subscription may arrive at any time and causes a read.
    const requestOften = async () => {
      plane.statements();
      for (let round = 0; round < 50; round += 1) await decide(customerId);
      return plane.statements();
    };
    await expect.poll(requestOften, { timeout: 20_000 }).toEqual([]);
    for (let used = 1; used <= 3; used += 1) {
      await usage.load(await use(customerId));
      const passedMs = startStopwatch();
      await expect
        .poll(async () => (await decide(customerId)).current, { interval: 20, timeout: 10_000 })
        .toBe(used);
      expect(passedMs()).toBeLessThan(2_000);
    }
    const rejected = { allowed: false, reasonCode: 'limit_reached', contributions };
    expect(await decide(customerId)).toMatchObject(rejected);
    expect(await decide(customerId, '?requested=7')).toMatchObject(rejected);
    expect(plane.statements()).toEqual([]);
  });

  it('reports up to when everything is counted, and never more', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { 'sum-feature': 1_000 });
    await decide(customerId);
    for (let used = 1; used <= 5; used += 1) {
      const appended = await use(customerId);
      const acknowledgedMs = Date.now();
      const early = await decide(customerId);
      if (Date.parse(early.asOf ?? '') > acknowledgedMs) expect(early.current).toBe(used);
      await usage.load(appended);
      await expect
        .poll(async () => Date.parse((await decide(customerId)).asOf ?? ''), {
          interval: 20,
          timeout: 10_000,
        })
        .toBeGreaterThanOrEqual(acknowledgedMs);
      expect((await decide(customerId)).current).toBe(used);
    }
  });

  it('continues while ClickHouse is unavailable, and asOf does not advance; uncached ones fail', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { 'sum-feature': 3 });
    await decide(customerId);
    isUnavailable = true;
    await usage.load(await use(customerId));
    const age = async () => Date.now() - Date.parse((await decide(customerId)).asOf ?? '');
    await expect.poll(age, { interval: 100, timeout: 10_000 }).toBeGreaterThan(2_500);
    expect(await decide(customerId)).toMatchObject({ allowed: true, current: 0 });
    const cold = await made.customer();
    await made.subscribe(cold, { 'sum-feature': 3 });
    expect((await plane.check(cold, 'sum-feature')).status).toBe(503);
    isUnavailable = false;
    await expect.poll(async () => (await decide(customerId)).current, { timeout: 10_000 }).toBe(1);
  });

  it('uses the present credits', async () => {
    const customerId = await made.customer();
    const params = { meterId: 'sum' };
    await usage.api.request('meters.update', { params, body: { creditRate: 2 } });
    await made.subscribe(customerId, { 'sum-feature': 0 });
    const code = async () => (await decide(customerId)).reasonCode;
    await expect.poll(code, { interval: 20, timeout: 4_000 }).toBe('insufficient_credit');
    const grant = { params: { customerId }, body: { amount: 5, reason: 'gift' } };
    await usage.api.request('credits.grant', grant);
    await expect.poll(code, { interval: 20, timeout: 4_000 }).toBe('granted_by_credit');
    expect((await decide(customerId, '?requested=3')).reasonCode).toBe('insufficient_credit');
    await usage.api.request('meters.update', { params, body: { creditRate: null } });
    await expect.poll(code, { interval: 20, timeout: 4_000 }).toBe('limit_reached');
  });

  // Red where only a change of entitlements invalidates, and not one of the periods of meters.
  it('uses a period that was extended since', async () => {
    const customerId = await made.customer();
    const id = await made.subscribe(customerId, { 'sum-feature': 1 });
    const resetsAt = async () => (await decide(customerId)).resetsAt ?? '';
    const before = await resetsAt();
    const currentPeriodEnd = isoText(Date.parse(before) + 5 * DAY_MS);
    await made.change(id, { currentPeriodEnd });
    await expect.poll(resetsAt, { interval: 20, timeout: 4_000 }).toBe(currentPeriodEnd);
    const plain = await made.check(customerId, 'sum-feature', { consistency: 'strong' });
    expect(plain.resetsAt).toBe(currentPeriodEnd);
  });

  // Red when a fan-out that reaches a customer after the catalogue's notification does not invalidate its
  // cache.
  it('uses the period that a plan gives it, though it was requested before the fan-out came', async () => {
    const { pool } = usage.api;
    const [customerId, planId] = [await made.customer(), await made.plan()];
    const currentPeriodEnd = isoText(Date.now() + 3 * DAY_MS);
    await made.subscribe(customerId, {}, { planId, currentPeriodEnd });
    await inTransaction(pool, async (db) => {
      await lockNotified(db, usage.api.environment, [customerId]);
      await made.giveInstead(planId, { 'sum-feature': 9 });
      const reason = async () => (await decide(customerId)).reasonCode;
      await expect.poll(reason, { interval: 20, timeout: 10_000 }).toBe('granted');
      expect((await decide(customerId)).resetsAt).not.toBe(currentPeriodEnd);
    });
    await expect.poll(() => fanoutJobs(pool), { interval: 20, timeout: 20_000 }).toBe(0);
    const resetsAt = async () => (await decide(customerId)).resetsAt;
    await expect.poll(resetsAt, { interval: 20, timeout: 4_000 }).toBe(currentPeriodEnd);
  });
});

const FEATURES = { sso: 'boolean', seats: 'limit', 'sum-feature': 'metered', 'max-feature': 'metered' };
const JSON_TYPE = { 'content-type': 'application/json' };
const NAMES = [...Object.keys(FEATURES), 'nothing'];
const amount = fc.constantFrom(0, 3, 2.5, null, 1_000_000_000);
const metered = fc.oneof(amount, fc.record({ value: amount, resets: fc.constantFrom(...RESETS) }));
const given = fc.record(
  {
    sso: fc.boolean(),
    seats: fc.oneof(amount, fc.record({ value: fc.constantFrom(0, 1), soft: fc.constant(true) })),
    'sum-feature': metered,
    'max-feature': metered,
  },
  { requiredKeys: [] },
);
const customerGrants = fc.record({
  subscriptions: fc.array(
    fc.record({
      given,
      status: fc.constantFrom('active', 'active', 'past_due', 'paused', 'unpaid', 'canceled'),
      daysAgo: fc.nat(40),
    }),
    { maxLength: 3 },
  ),
  override: fc.option(
    fc.constantFrom(['sso', true], ['sso', false], ['seats', 0], ['sum-feature', 7], ['max-feature', null]),
  ),
  used: fc.nat(2),
  isArchived: fc.constantFrom(false, false, false, true),
  requested: fc.constantFrom({}, {}, { requested: 0 }, { requested: 2.5 }, { requested: 1_000_000 }),
});

describe('the cached decisions on any customer', () => {
  it('are those of the stores, first and again, on both paths', { timeout: 120_000 }, async () => {
    await made.features({ sso: 'boolean', seats: 'limit' });
    await fc.assert(
      fc.asyncProperty(customerGrants, async ({ requested, ...held }) => {
        const customerId = await customerWith(held);
        const features = NAMES.map((featureKey) => ({ featureKey, ...requested }));
        const options = { method: 'POST' as const, headers: JSON_TYPE, body: { customerId, features } };
        const requestAll = async (query = '') => {
          const { status, text } = await plane.request(`/entitlements/check${query}`, options);
          expect(status).toBe(200);
          return text.replace(/,"asOf":"[^"]*"/g, ',"asOf":""');
        };
        const stored = await requestAll('?consistency=strong');
        expect([await requestAll('?consistency=eventual'), await requestAll()]).toEqual([stored, stored]);
        if ('requested' in requested) return;
        const { data } = JSON.parse(stored) as { data: unknown[] };
        for (const [at, feature] of NAMES.entries()) {
          const { decision } = await plane.check(customerId, feature);
          expect({ ...decision, ...('asOf' in decision ? { asOf: '' } : {}) }).toEqual(data[at]);
        }
      }),
      { numRuns: 20 },
    );
  });
});

describe('a check while what is counted is being repaired', () => {
  it('is rejected where it must be strong, and is served from the cache otherwise', async () => {
    const customerId = await customerWith({
      subscriptions: [],
      override: ['sum-feature', 7],
      used: 0,
      isArchived: false,
    });
    const body = { customerId, features: [{ featureKey: 'sum-feature' }] };
    const check = (query = '') =>
      plane.request(`/entitlements/check${query}`, { method: 'POST', headers: JSON_TYPE, body });
    const { pool } = usage.api;
    await pool.query("INSERT INTO audit_runs (id, repair, state) VALUES ('a', true, 'running')");
    try {
      expect([(await check('?consistency=strong')).status, (await check()).status]).toEqual([503, 200]);
    } finally {
      await pool.query('DELETE FROM audit_runs');
    }
    expect((await check('?consistency=strong')).status).toBe(200);
  });
});

type Held = Omit<typeof customerGrants extends fc.Arbitrary<infer One> ? One : never, 'requested'>;

async function customerWith({ subscriptions, override, used, isArchived }: Held): Promise<string> {
  const { api } = usage;
  const customerId = await made.customer();
  for (let event = 0; event < used; event += 1) await usage.load(await use(customerId));
  for (const { given: values, status, daysAgo } of subscriptions) {
    const startMs = Date.now() - daysAgo * DAY_MS;
    const period = { currentPeriodStart: isoText(startMs), currentPeriodEnd: isoText(startMs + 41 * DAY_MS) };
    const id = await made.subscribe(customerId, values, period);
    if (status !== 'active') await made.change(id, { status });
  }
  const [featureKey, value] = override ?? [];
  if (featureKey !== undefined) await made.override(customerId, String(featureKey), { value });
  if (isArchived) await api.request('customers.archive', { params: { customerId } });
  return customerId;
}
