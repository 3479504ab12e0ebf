import { describe, expect, it } from 'vitest';
import { apiOfThisFile, expectRejection, newCustomer } from '../api-under-test.ts';

/*
 * What a pricing page reads, from any origin, with the key that it shows to its visitors.
 *
 * Mutants this suite catches: drafts and archived plans shown; prices or entitlements of an older version, or
 * of another plan; plans of another environment; the response stored by caches of others.
 */
const api = await apiOfThisFile();
await api.request('meters.create', {
  body: { key: 'calls', name: 'Calls', aggregation: 'sum', unit: 'calls' },
});
const features = [
  { key: 'sso', name: 'Single sign-on', type: 'boolean' },
  { key: 'calls', name: 'API calls', type: 'metered', meterKey: 'calls' },
];
for (const body of features) await api.request('features.create', { body });
const PATH = '/api/v1/pricing';
const key = api.keys.live.publishable;

const read = (headers: Record<string, string> = {}) => api.call('GET', PATH, { key, headers });

const BASE = { key: 'base', currency: 'EUR', interval: 'month', intervalCount: 1, model: 'flat', amount: 49 };
const PRESENTED = { position: 2, highlights: ['For teams', 'Support'], callToAction: 'Start now' };

async function newPlan(fields: object, published = true): Promise<{ planId: string }> {
  const body = { productId: 'p', name: 'Plan', ...fields };
  const { body: plan } = await api.request('createPlan', { body });
  const params = { planId: plan.id };
  if (published) await api.request('plans.publish', { params });
  return params;
}

describe('the pricing', () => {
  it('has published plans in their order, with prices and entitlements of the current version', async () => {
    const last = await newPlan({ name: 'No place' });
    const team = await newPlan({ name: 'Team', description: 'All of it', ...PRESENTED });
    const free = await newPlan({ name: 'Free', position: 1 });
    await newPlan({ name: 'Draft', position: 0 }, false);
    const old = await newPlan({ name: 'Old', position: 0 });
    await api.request('plans.archive', { params: old });
    await api.request('plans.replacePrices', { params: team, body: { prices: [{ ...BASE, amount: 39 }] } });
    await api.request('plans.replacePrices', { params: team, body: { prices: [BASE] } });
    const entitlements = [
      { featureKey: 'sso', value: true },
      { featureKey: 'calls', value: 1000.5, soft: true, resets: 'month' },
    ];
    await api.request('plans.replaceEntitlements', { params: team, body: { entitlements } });
    const later = await newPlan({ name: 'No place either' });
    const test = { key: api.keys.test.secret };
    const other = await api.call('POST', '/api/v1/plans', {
      ...test,
      body: { productId: 'p', name: 'Test' },
    });
    await api.call('POST', `/api/v1/plans/${other.body.id}/publish`, test);
    const { status, body } = await read();
    expect(status).toBe(200);
    const inOrder = [free.planId, team.planId, last.planId, later.planId];
    expect(body.plans.map(({ id }: { id: string }) => id)).toEqual(inOrder);
    expect(body.plans[0]).toEqual({
      id: free.planId,
      key: 'free',
      name: 'Free',
      position: 1,
      prices: [],
      entitlements: [],
    });
    expect(body.plans[1]).toEqual({
      id: team.planId,
      key: 'team',
      name: 'Team',
      description: 'All of it',
      ...PRESENTED,
      prices: [BASE],
      entitlements: [
        {
          featureKey: 'calls',
          featureName: 'API calls',
          type: 'metered',
          value: 1000.5,
          resets: 'month',
          soft: true,
          unit: 'calls',
        },
        { featureKey: 'sso', featureName: 'Single sign-on', type: 'boolean', value: true, soft: false },
      ],
    });
  });

  it('is read again once anything that it shows has changed, and not before', async () => {
    const params = await newPlan({ name: 'Kept' });
    const entitlements = [{ featureKey: 'calls', value: 5 }];
    await api.request('plans.replaceEntitlements', { params, body: { entitlements } });
    const shown = async (ofKey = key) => {
      const { body } = await api.call('GET', PATH, { key: ofKey });
      return body.plans.find(({ id }: { id: string }) => id === params.planId);
    };
    const first = await shown();
    await api.pool.query(`UPDATE plans SET name = 'Unseen' WHERE id = $1`, [params.planId]);
    expect(await shown()).toEqual(first);
    expect(await shown(api.keys.test.publishable)).toBeUndefined();
    await api.request('plans.update', { params, body: { highlights: ['Seen'] } });
    expect(await shown()).toMatchObject({ name: 'Unseen', highlights: ['Seen'] });
    const change = { body: { unit: 'requests' } };
    await api.request('meters.update', { params: { meterId: 'calls' }, ...change });
    expect((await shown()).entitlements[0].unit).toBe('requests');
    await api.request('features.update', { params: { featureKey: 'calls' }, body: { name: 'Requests' } });
    expect((await shown()).entitlements[0].featureName).toBe('Requests');
    await api.request('plans.archive', { params });
    expect(await shown()).toBeUndefined();
  });

  it('is read by a page of any origin, which keeps it for a minute', async () => {
    const { headers, body } = await read({ origin: 'https://shop.example' });
    expect(headers).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'cache-control': 'private, max-age=60',
      vary: 'Origin, Authorization, X-API-Key, Prefer',
      etag: expect.any(String),
    });
    const again = await read({ 'if-none-match': String(headers.etag) });
    expect([again.status, again.text]).toEqual([304, '']);
    const inAddress = await api.call('GET', `${PATH}?key=${key}`, { key: undefined });
    expect(inAddress.body).toEqual(body);
    const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    expect((await api.call('OPTIONS', PATH, { key: undefined, headers: preflight })).status).toBe(204);
  });

  it('needs a key, and a secret one not in the address', async () => {
    expectRejection(await api.call('GET', PATH, { key: undefined }), 'unauthenticated');
    const inAddress = `${PATH}?key=${api.keys.live.secret}`;
    expectRejection(await api.call('GET', inAddress, { key: undefined }), 'unauthenticated');
    expect((await api.call('GET', PATH)).status).toBe(200);
    expectRejection(await api.call('GET', '/api/v1/plans', { key }), 'publishable_key_not_allowed');
  });
});

describe('the pricing with a customer token', () => {
  const CHEAP = { prices: [{ ...BASE, amount: 10 }] };
  const product = 'compared';
  const compared = async (name: string, position: number, prices: object = CHEAP) => {
    const params = await newPlan({ name, productId: product, position });
    await api.request('plans.replacePrices', { params, body: prices });
    return params.planId;
  };
  const subscribe = (customerId: string, planId: string, fields: object = {}) =>
    api.request('subscriptions.create', { body: { customerId, planId, ...fields } });

  async function scenarios(customerId: string): Promise<Record<string, string>> {
    const { body: made } = await api.request('customerTokens.create', { body: { customerId } });
    const { body } = await api.request('pricing.retrieve', { key: made.token });
    return Object.fromEntries(body.plans.map(({ id, scenario = 'none' }) => [id, scenario]));
  }

  it('says what choosing each plan would be', async () => {
    const [low, middle, high] = [
      await compared('Low', 1),
      await compared('Middle', 2),
      await compared('High', 3, { prices: [{ ...BASE, interval: 'year', amount: 1000 }] }),
    ];
    const elsewhere = (await newPlan({ name: 'Elsewhere', productId: 'another' })).planId;
    const { body: customer } = await api.request('customers.create', { body: newCustomer() });
    const shown = async () => {
      const all = await scenarios(customer.id);
      return [low, middle, high, elsewhere].map((id) => all[id]);
    };
    expect(await shown()).toEqual(['new', 'new', 'new', 'new']);
    const future = new Date(Date.now() + 86_400_000).toISOString();
    await subscribe(customer.id, low, { status: 'incomplete' });
    await subscribe(customer.id, low, { currentPeriodStart: future });
    expect(await shown()).toEqual(['scheduled', 'new', 'new', 'new']);
    const { body: subscription } = await subscribe(customer.id, middle);
    expect(await shown()).toEqual(['scheduled', 'active', 'upgrade', 'new']);
    const params = { subscriptionId: subscription.id };
    await api.request('subscriptions.update', { params, body: { planId: high, at: 'period_end' } });
    expect(await shown()).toEqual(['scheduled', 'active', 'scheduled', 'new']);
    await api.request('subscriptions.update', { params, body: { planId: high } });
    expect(await shown()).toEqual(['scheduled', 'downgrade', 'active', 'new']);
    await api.request('subscriptions.cancel', { params, body: { at: 'now' } });
    expect(await shown()).toEqual(['scheduled', 'new', 'new', 'new']);
    const { body } = await read();
    expect(body.plans.every((plan: object) => !('scenario' in plan))).toBe(true);
  });
});

describe('what a page shows of a plan', () => {
  it('is changed and removed without a new version', async () => {
    const params = await newPlan({ name: 'Shown', ...PRESENTED });
    const changed = { position: 9, highlights: ['One'], callToAction: 'Buy' };
    const { body } = await api.request('plans.update', { params, body: changed });
    expect(body).toMatchObject({ ...changed, version: 1 });
    const removed = { position: null, highlights: [], callToAction: null };
    const bare = await api.request('plans.update', { params, body: removed });
    expect(bare.body).toMatchObject({ version: 1 });
    for (const name of Object.keys(PRESENTED)) expect(bare.body).not.toHaveProperty(name);
  });

  it.each([
    [{ position: -1 }, 'position'],
    [{ position: 1.5 }, 'position'],
    [{ highlights: ['x'.repeat(201)] }, 'highlights.0'],
    [{ highlights: Array(21).fill('x') }, 'highlights'],
    [{ callToAction: '' }, 'callToAction'],
  ])('is rejected: %j', async (fields, param) => {
    const body = { productId: 'p', name: 'Plan', ...fields };
    expectRejection(await api.call('POST', '/api/v1/plans', { body }), 'invalid_request', param);
  });
});
