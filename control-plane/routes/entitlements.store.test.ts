import { describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { customerGrantsUnderTest } from '../entitlements/customer-grants-under-test.ts';

/*
 * Entitlements over HTTP and a real Postgres; ClickHouse is unavailable. Metered ones:
 * usage/metered.store.test.ts.
 *
 * Mutants this suite catches: the environment left out of any part of the statement; the current version read
 * for one that is pinned; ended subscriptions read; quantity left out; the workspace's grace as a fixed
 * number.
 */
const api = await apiOfThisFile();
const made = customerGrantsUnderTest(api);
await made.features({ sso: 'boolean', audit: 'boolean', seats: 'limit', storage: 'limit' });
await made.meteredFeature('calls');

describe('the entitlements of a customer', () => {
  it('is combined over plans and add-ons, by key', async () => {
    const customerId = await made.customer();
    const more = await made.addon('more-seats', { seats: 2.5, sso: true });
    const addons = [{ addonId: more, quantity: 4 }];
    await made.subscribe(customerId, { seats: 5, sso: false, storage: null }, { addons });
    await made.subscribe(customerId, { seats: 0.1, storage: 3, calls: 10 });
    const list = await made.list(customerId);
    expect(list).toMatchObject([
      { featureKey: 'calls', type: 'metered', effectiveValue: 10, sources: ['plan:plan-2'] },
      { featureKey: 'seats', type: 'limit', effectiveValue: 15.1 },
      { featureKey: 'sso', type: 'boolean', effectiveValue: true, sources: ['addon:more-seats'] },
      { featureKey: 'storage', type: 'limit', effectiveValue: null },
    ]);
    expect(list[1]?.sources).toEqual(['plan:plan-1', 'addon:more-seats', 'plan:plan-2']);
  });

  it('is exact to the last digit', async () => {
    const customerId = await made.customer();
    const subscribeTo = async (value: string) => {
      const planId = await made.plan();
      const body = `{"entitlements":[{"featureKey":"seats","value":${value}}]}`;
      const path = `/api/v1/plans/${planId}/entitlements`;
      expect((await api.call('PUT', path, { body })).status).toBe(200);
      await made.subscribe(customerId, {}, { planId });
    };
    await subscribeTo('999999999999999.999999999999');
    await subscribeTo('0.000000000002');
    const { text } = await api.request('entitlements.list', { params: { customerId } });
    expect(text).toContain('"effectiveValue":1000000000000000.000000000001,');
    const beyond = { requested: '999999999999999.999999999999' };
    expect((await made.check(customerId, 'seats', beyond)).allowed).toBe(true);
  });

  it('are empty without subscriptions or when archived, and 404 for an unknown customer', async () => {
    const customerId = await made.customer();
    expect(await made.list(customerId)).toEqual([]);
    await made.subscribe(customerId, { sso: true });
    expect(await made.list(customerId)).toHaveLength(1);
    await api.request('customers.archive', { params: { customerId } });
    expect(await made.list(customerId)).toEqual([]);
    const archived = { reasonCode: 'customer_archived', type: 'boolean' };
    expect(await made.check(customerId, 'sso')).toMatchObject(archived);
    const unknown = await api.request('entitlements.list', { params: { customerId: 'cus_unknown' } });
    expectRejection(unknown, 'customer_not_found', 'customerId');
  });

  it('follows the plan at once, unless the subscription is pinned to a version', async () => {
    const planId = await made.plan({ seats: 1 });
    await api.request('plans.publish', { params: { planId } });
    const [follows, pinned] = [await made.customer(), await made.customer()];
    await made.subscribe(follows, {}, { planId });
    await made.subscribe(pinned, {}, { planId, planVersion: 1 });
    await made.giveInstead(planId, { seats: 2, sso: true });
    expect(await made.list(follows)).toMatchObject([{ effectiveValue: 2 }, { featureKey: 'sso' }]);
    expect(await made.list(pinned)).toMatchObject([{ featureKey: 'seats', effectiveValue: 1 }]);
  });

  it('loses a feature that is deleted', async () => {
    const customerId = await made.customer();
    await made.feature('beta', 'boolean');
    await made.subscribe(customerId, { beta: true });
    expect((await made.check(customerId, 'beta')).allowed).toBe(true);
    await api.request('features.delete', { params: { featureKey: 'beta' } });
    expect(await made.list(customerId)).toEqual([]);
    expect((await made.check(customerId, 'beta')).reasonCode).toBe('feature_not_found');
  });
});

describe('a check', () => {
  it.each([
    ['trialing', 'granted'],
    ['active', 'granted'],
    ['past_due', 'granted_grace_period'],
    ['unpaid', 'subscription_past_due'],
    ['paused', 'subscription_paused'],
    ['incomplete', 'no_active_subscription'],
    ['canceled', 'no_active_subscription'],
  ])('of a subscription that is %s is %s', async (status, reasonCode) => {
    const customerId = await made.customer();
    const id = await made.subscribe(customerId, { sso: true, seats: 3 });
    await setStatus(id, status);
    const isHeld = reasonCode.startsWith('granted');
    for (const feature of ['sso', 'seats']) {
      const decision = await made.check(customerId, feature);
      expect(decision).toMatchObject({ allowed: isHeld, reasonCode, customerId, featureKey: feature });
    }
    expect(await made.list(customerId)).toHaveLength(isHeld ? 2 : 0);
  });

  it('lets a past-due subscription count for the grace of the workspace, to the millisecond', async () => {
    const customerId = await made.customer();
    const id = await made.subscribe(customerId, { sso: true });
    await setStatus(id, 'past_due');
    const since = async (days: number, more: string) => {
      await api.pool.query(
        `UPDATE subscriptions SET status_since = now() - $2 * interval '1 day' + $3::interval WHERE id = $1`,
        [id, days, more],
      );
      // Written without a notification, so that the cache does not notice.
      return (await made.check(customerId, 'sso', { consistency: 'strong' })).reasonCode;
    };
    expect(await since(14, '30 s')).toBe('granted_grace_period');
    expect(await since(14, '-1 ms')).toBe('subscription_past_due');
    await api.request('workspace.update', { body: { pastDueGraceDays: 9 } });
    expect(await since(9, '30 s')).toBe('granted_grace_period');
    expect(await since(9, '-1 ms')).toBe('subscription_past_due');
    await api.request('workspace.update', { body: { pastDueGraceDays: 0 } });
    expect(await since(0, '0 s')).toBe('subscription_past_due');
    await api.request('workspace.update', { body: { pastDueGraceDays: 14 } });
  });

  it('is a denial for an unknown customer or feature, whatever the names', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { sso: true });
    for (const name of ['__proto__', 'constructor', 'toString', `x' OR '1'='1`, '%', '\\', '🦊', 'SSO']) {
      expect((await made.check(customerId, name)).reasonCode).toBe('feature_not_found');
      const unknown = await made.check(name, 'sso');
      expect(unknown).toMatchObject({ allowed: false, customerId: name, reasonCode: 'customer_not_found' });
    }
    expect((await made.check(customerId, 'audit')).reasonCode).toBe('feature_not_included');
  });

  it('takes the customer by its own id of the caller, and the feature by id', async () => {
    const customerId = await made.customer();
    await api.request('customers.update', { params: { customerId }, body: { externalId: 'ext/1' } });
    await made.subscribe(customerId, { sso: true });
    const { body: feature } = await api.request('features.retrieve', { params: { featureKey: 'sso' } });
    const expected = { allowed: true, customerId, featureKey: 'sso' };
    expect(await made.check('ext/1', feature.id)).toMatchObject(expected);
    expect(await made.list('ext/1')).toHaveLength(1);
  });

  it('sees nothing of another mode or workspace', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { sso: true });
    const other = await api.addWorkspace();
    for (const key of [api.keys.test.secret, other.live.secret]) {
      const list = await api.request('entitlements.list', { params: { customerId }, key });
      expectRejection(list, 'customer_not_found', 'customerId');
      const params = { customerId, featureKey: 'sso' };
      const check = await api.request('entitlements.check', { params, key });
      expect(check.body.reasonCode).toBe('customer_not_found');
    }
  });

  it('knows no feature of another mode', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { sso: true });
    const theirs = { key: 'theirs', name: 'Theirs', type: 'boolean' };
    const { body } = await api.request('features.create', { body: theirs, key: api.keys.test.secret });
    for (const name of ['theirs', body.id]) {
      expect((await made.check(customerId, name)).reasonCode).toBe('feature_not_found');
    }
  });

  it('compares a limit with the requested number', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { seats: 5, storage: { value: 5, soft: true } });
    const codes = async (feature: string, ...numbers: Array<string | number>) => {
      const checks = numbers.map((requested) => made.check(customerId, feature, { requested }));
      return (await Promise.all(checks)).map(({ reasonCode }) => reasonCode);
    };
    expect(await codes('seats', 0, 5, '5.0', '0.5e1', '1e-7', '5.000000000001', 6)).toEqual([
      'granted',
      'granted',
      'granted',
      'granted',
      'granted',
      'limit_reached',
      'limit_reached',
    ]);
    expect(await codes('storage', 5, 6)).toEqual(['granted', 'granted_soft_limit_exceeded']);
    await made.subscribe(customerId, { seats: null });
    expect(await codes('seats', '999999999999999')).toEqual(['granted_unlimited']);
  });

  it.each([
    ['-1', 'invalid_request'],
    ['x', 'invalid_request'],
    ['', 'invalid_request'],
    ['1e', 'invalid_request'],
    ['1e16', 'value_invalid'],
    ['٣', 'invalid_request'],
    ['9'.repeat(65), 'invalid_request'],
    ['9'.repeat(16), 'value_invalid'],
    ['0.0000000000001', 'value_invalid'],
  ] as const)('of %s more is rejected', async (requested, code) => {
    const params = { customerId: 'cus_unknown', featureKey: 'seats' };
    const rejected = await api.request('entitlements.check', { params, query: { requested } });
    expectRejection(rejected, code, 'requested');
  });

  it('of what is metered waits for its counter, of anything else does not', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { calls: 10, sso: true });
    const params = { customerId, featureKey: 'calls' };
    expectRejection(await api.request('entitlements.check', { params }), 'unavailable');
    expect((await made.check(customerId, 'sso')).allowed).toBe(true);
    const none = await made.check(await made.customer(), 'calls');
    expect(none).toMatchObject({ allowed: false, reasonCode: 'no_active_subscription', type: 'metered' });
  });
});

describe('a check of several features', () => {
  const request = (body: unknown, headers: Record<string, string> = {}) =>
    api.request('entitlements.checkMany', { body, headers });

  it('decides each as if it was requested alone, in order', async () => {
    const customerId = await made.customer();
    await made.subscribe(customerId, { seats: 5, sso: true });
    const features = [
      { featureKey: 'seats', requested: 6 },
      { featureKey: 'nothing' },
      { featureKey: 'sso' },
      { featureKey: 'seats', requested: 5 },
      { featureKey: 'audit' },
    ];
    const { status, body } = await request({ customerId, features });
    expect(status).toBe(200);
    const alone = features.map(({ featureKey, requested }) => {
      return made.check(customerId, featureKey, requested === undefined ? {} : { requested });
    });
    expect(body.data).toEqual(await Promise.all(alone));
    const unknown = await request({ customerId: 'cus_unknown', features });
    const reasonCode = 'customer_not_found';
    expect(unknown.body.data).toMatchObject(features.map(() => ({ reasonCode })));
  });

  it('takes 1 to 100 of them, and names what it rejects', async () => {
    const customerId = await made.customer();
    const some = (count: number) => Array.from({ length: count }, () => ({ featureKey: 'sso' }));
    expect((await request({ customerId, features: some(100) })).body.data).toHaveLength(100);
    for (const count of [0, 101]) {
      expectRejection(await request({ customerId, features: some(count) }), 'invalid_request', 'features');
    }
    expectRejection(await request({ features: some(1) }), 'invalid_request', 'customerId');
    const number = (text: string) =>
      request(`{"customerId":"x","features":[{"featureKey":"a"},{"featureKey":"a","requested":${text}}]}`);
    for (const text of ['-1', '"1"', 'true']) {
      expectRejection(await number(text), 'invalid_request', 'features.1.requested');
    }
    for (const text of ['1e400', '1e15', '1e-13', '0.1234567890123']) {
      expectRejection(await number(text), 'value_invalid', 'features.1.requested');
    }
    expect((await number('1e3')).status).toBe(200);
  });

  it('changes nothing, and is repeated under its key', async () => {
    const body = { customerId: 'cus_unknown', features: [{ featureKey: 'sso' }] };
    const recorded = async () => (await api.pool.query('SELECT count(*) FROM audit_log')).rows;
    const before = await recorded();
    const headers = { 'idempotency-key': 'check-1' };
    const first = await request(body, headers);
    const again = await request(body, headers);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
    expect((await request(body)).headers).not.toHaveProperty('idempotent-replayed');
    expect(await recorded()).toEqual(before);
  });
});

/** By the transitions that the table allows. */
async function setStatus(subscriptionId: string, status: string): Promise<void> {
  if (status === 'active') return;
  if (status === 'incomplete' || status === 'trialing') {
    await api.pool.query('UPDATE subscriptions SET status = $2 WHERE id = $1', [subscriptionId, status]);
    return;
  }
  await made.change(subscriptionId, { status });
}
