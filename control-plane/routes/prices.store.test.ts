import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../schemas/error-codes.ts';
import { apiOfThisFile, expectRejection, newCustomer } from '../api-under-test.ts';
import { auditEntries, emittedEvents } from '../subscriptions/subscriptions-under-test.ts';

/*
 * What plans and add-ons cost, over HTTP.
 *
 * Mutants this suite catches: prices of a published plan replaced in place; a version without a copy of the
 * prices before it, or of the entitlements; numbers from JSON.parse; the same set written as a change.
 */
const clock = { aheadMs: 0, nowMs: () => Date.now() + clock.aheadMs, monotonicMs: () => performance.now() };
const api = await apiOfThisFile(undefined, { clock });
for (const [key, aggregation] of [
  ['calls', 'sum'],
  ['peak', 'max'],
] as const) {
  await api.request('meters.create', { body: { key, name: key, aggregation } });
}
await api.request('features.create', { body: { key: 'seats', name: 'Seats', type: 'limit' } });
await api.request('features.create', { body: { key: 'sso', name: 'SSO', type: 'boolean' } });

async function newPlan({ published = false } = {}): Promise<{ planId: string }> {
  const { body } = await api.request('createPlan', { body: { productId: 'p', name: 'Pro' } });
  const params = { planId: body.id };
  if (published) await api.request('plans.publish', { params });
  return params;
}

const put = (params: { planId: string }, prices: unknown, headers = {}) =>
  api.request('plans.replacePrices', { params, body: { prices }, headers });
const get = (params: { planId: string }, query: Record<string, number> = {}) =>
  api.request('plans.retrievePrices', { params, query });

const EUR = { currency: 'EUR', interval: 'month', intervalCount: 1 };
const BASE = { ...EUR, key: 'base', model: 'flat', amount: 49.9 };
const CALLS = {
  ...{ ...EUR, key: 'calls', model: 'graduated', meterKey: 'calls', minimum: 1, maximum: 1000 },
  tiers: [
    { upTo: 1000, unitAmount: 0, flatAmount: 5 },
    { upTo: null, unitAmount: 0.002 },
  ],
};
const SET = [
  BASE,
  { ...BASE, interval: 'year', intervalCount: 2, amount: 499, description: 'Two months free' },
  CALLS,
  { ...EUR, key: 'peak', model: 'package', meterKey: 'peak', size: 10, amount: 1.5, included: 20 },
  { ...EUR, key: 'seats', model: 'seat', featureKey: 'seats', unitAmount: 9 },
  { ...EUR, currency: 'USD', key: 'fee', model: 'percentage', meterKey: 'calls', rate: 0.029, fixed: 0.3 },
];

describe('the prices of a plan', () => {
  it('are replaced as a whole, in place while it is a draft', async () => {
    const params = await newPlan();
    expect((await get(params)).body).toEqual({ ...params, version: 1, prices: [] });
    const first = await put(params, SET);
    expect(first.body).toEqual({ ...params, version: 1, prices: SET });
    const second = await put(params, [BASE]);
    expect(second.body.prices).toEqual([BASE]);
    expect((await get(params)).body).toEqual(second.body);
    expect((await emittedEvents(api.pool, params.planId)).map(({ type }) => type)).toEqual([
      ...['plan.created', 'plan.updated', 'plan.updated'],
    ]);
    const entries = await auditEntries(api.pool, params.planId);
    expect(entries.at(-1)).toMatchObject({ before: first.body, after: second.body });
  });

  it('of a published plan are a new version, with the entitlements of the one before', async () => {
    const params = await newPlan();
    const entitlements = [{ featureKey: 'sso', value: true }];
    await api.request('plans.replaceEntitlements', { params, body: { entitlements } });
    await put(params, [BASE]);
    await api.request('plans.publish', { params });
    expect((await put(params, SET)).body.version).toBe(2);
    expect((await get(params, { version: 1 })).body.prices).toEqual([BASE]);
    expect((await get(params)).body.prices).toEqual(SET);
    const held = await api.request('plans.retrieveEntitlements', { params, query: {} });
    expect(held.body).toMatchObject({ version: 2, entitlements });
    const none = { params, body: { entitlements: [] } };
    expect((await api.request('plans.replaceEntitlements', none)).body.version).toBe(3);
    expect((await get(params)).body).toEqual({ ...params, version: 3, prices: SET });
    await api.request('plans.update', { params, body: { name: 'Pro 2' } });
    expect((await get(params)).body).toEqual({ ...params, version: 4, prices: SET });
    expectRejection(await get(params, { version: 5 }), 'plan_not_found', 'version');
  });

  it('that are there already change nothing, however they are written', async () => {
    const params = await newPlan({ published: true });
    const { body, headers } = await put(params, SET);
    const text = JSON.stringify({ prices: SET })
      .replace('0.029', '2.9e-2')
      .replace('"amount":499', '"amount":499.00');
    const again = await api.call('PUT', `/api/v1/plans/${params.planId}/prices`, { body: text });
    expect(again.body).toEqual(body);
    expectRejection(await put(params, [BASE], { 'if-match': '"other"' }), 'precondition_failed');
    expect((await put(params, [BASE], { 'if-match': String(headers.etag) })).body.version).toBe(3);
  });

  it('keep every digit, and no member that is not theirs', async () => {
    const params = await newPlan();
    const exact = '123456789012345.000000000001';
    const first = `{"key":"a","currency":"EUR","interval":"month","model":"flat"`;
    const price = `${first},"amount":${exact},"rate":2,"x":{}}`;
    const path = `/api/v1/plans/${params.planId}/prices`;
    const response = await api.call('PUT', path, { body: `{"prices":[${price}]}` });
    expect(response.text).toContain(`"amount":${exact}}`);
    expect(response.headers['x-ignored-fields']).toBe('prices.0.rate, prices.0.x');
    expect(response.body.prices).toEqual([{ ...EUR, key: 'a', model: 'flat', amount: expect.anything() }]);
  });

  it('are those of the last change, also where its clock was behind', async () => {
    const params = await newPlan({ published: true });
    const { body: addon } = await api.request('addons.create', { body: { key: 'late', name: 'Late' } });
    const offered = { params: { addonId: addon.id } };
    await put(params, SET);
    await api.request('addons.replacePrices', { ...offered, body: { prices: SET } });
    clock.aheadMs = -60_000;
    await put(params, [BASE]);
    await api.request('addons.replacePrices', { ...offered, body: { prices: [BASE] } });
    clock.aheadMs = 0;
    expect((await get(params)).body).toMatchObject({ version: 3, prices: [BASE] });
    expect((await api.request('addons.retrievePrices', offered)).body.prices).toEqual([BASE]);
    const { rows } = await api.pool.query(
      'SELECT count(DISTINCT starts_at) AS times FROM plan_prices WHERE plan_id = $1',
      [params.planId],
    );
    expect(rows).toEqual([{ times: 1 }]);
  });

  it('of a version that nothing was subscribed to are one row, and a row each afterwards', async () => {
    const params = await newPlan();
    const rows = async () =>
      (await api.pool.query('SELECT prices FROM plan_prices WHERE plan_id = $1', [params.planId])).rows;
    await put(params, SET);
    await put(params, [BASE]);
    expect(await rows()).toEqual([{ prices: [{ ...BASE, amount: '49.9' }] }]);
    const { body } = await api.request('customers.create', { body: newCustomer() });
    const subscribed = await api.request('subscriptions.create', {
      body: { customerId: body.id, planId: params.planId },
    });
    expect(subscribed.status).toBe(201);
    await put(params, SET);
    await put(params, []);
    expect(await rows()).toHaveLength(3);
    expect((await get(params)).body.prices).toEqual([]);
  });

  it('may differ by the values of a property, whatever their names', async () => {
    const amounts = { eu: 0.5, 'a\nb': 2, constructor: 1 };
    const unitAmounts = { property: 'region', amounts };
    const price = { ...EUR, key: 'calls', model: 'per_unit', meterKey: 'calls', unitAmount: 1, unitAmounts };
    const params = await newPlan();
    expect((await put(params, [price])).body.prices).toEqual([price]);
    const negative = { ...price, unitAmounts: { ...unitAmounts, amounts: { 'a\nb': -5 } } };
    const param = 'prices.0.unitAmounts.amounts.a\nb';
    expectRejection(await put(params, [negative]), 'invalid_request', param);
    const ofPeak = await put(params, [{ ...price, meterKey: 'peak' }]);
    expectRejection(ofPeak, 'invalid_request', 'prices.0.unitAmounts');
  });

  it('of a meter or feature that is named by its id are shown with its key', async () => {
    const params = await newPlan();
    const meter = await api.request('meters.retrieve', { params: { meterId: 'calls' } });
    const { body } = await put(params, [{ ...CALLS, meterKey: meter.body.id }]);
    expect(body.prices).toEqual([CALLS]);
  });
});

describe('prices that are not valid', () => {
  const tiers = (...ends: Array<number | null>) => {
    return { ...CALLS, tiers: ends.map((upTo) => ({ upTo, unitAmount: 1 })) };
  };
  it.each<[string, unknown, code: ErrorCode, param: string]>([
    ['an unknown model', { ...BASE, model: 'tiered' }, 'invalid_request', 'prices.0.model'],
    ['no model', { ...BASE, model: undefined }, 'invalid_request', 'prices.0.model'],
    [
      'a member of another model missing',
      { ...BASE, amount: undefined },
      'invalid_request',
      'prices.0.amount',
    ],
    ['a negative amount', { ...BASE, amount: -1 }, 'invalid_request', 'prices.0.amount'],
    ['a negative tier', tiers(-1, null), 'invalid_request', 'prices.0.tiers.0.upTo'],
    ['tiers out of order', tiers(2, 1, null), 'invalid_request', 'prices.0.tiers.1.upTo'],
    ['a last tier that ends', tiers(2, 3), 'invalid_request', 'prices.0.tiers.1.upTo'],
    ['an unknown currency', { ...BASE, currency: 'XYZ' }, 'invalid_request', 'prices.0.currency'],
    ['a currency in lower case', { ...BASE, currency: 'eur' }, 'invalid_request', 'prices.0.currency'],
    ['too many months', { ...BASE, intervalCount: 37 }, 'invalid_request', 'prices.0.intervalCount'],
    ['an unknown meter', { ...CALLS, meterKey: 'none' }, 'meter_not_found', 'prices.0.meterKey'],
    ['a share of a maximum', { ...SET[5], meterKey: 'peak' }, 'invalid_request', 'prices.0.meterKey'],
    ['an unknown feature', { ...SET[4], featureKey: 'no' }, 'feature_not_found', 'prices.0.featureKey'],
    ['seats of a switch', { ...SET[4], featureKey: 'sso' }, 'invalid_request', 'prices.0.featureKey'],
    ['too many digits', { ...BASE, amount: 1e-13 }, 'value_invalid', 'prices.0.amount'],
  ])('with %s are rejected', async (_, price, code, param) => {
    const params = await newPlan({ published: true });
    const response = await put(params, [price]);
    expectRejection(response, code, param);
    expect((await get(params)).body).toMatchObject({ version: 1, prices: [] });
  });

  it('because two charge the same usage are rejected, by whatever name of the meter', async () => {
    const meter = await api.request('meters.retrieve', { params: { meterId: 'calls' } });
    const other = { ...CALLS, key: 'other', meterKey: meter.body.id };
    const response = await put(await newPlan(), [CALLS, other]);
    expectRejection(response, 'invalid_request', 'prices.1.meterKey');
  });
});

describe('the prices of an add-on', () => {
  it('are replaced as a whole', async () => {
    const { body: addon } = await api.request('addons.create', { body: { key: 'more', name: 'More' } });
    const params = { addonId: addon.id };
    const request = (prices: unknown) => api.request('addons.replacePrices', { params, body: { prices } });
    expect((await request(SET)).body).toEqual({ ...params, prices: SET });
    expect((await request([BASE])).body).toEqual({ ...params, prices: [BASE] });
    const shown = await api.request('addons.retrievePrices', { params: { addonId: 'more' } });
    expect(shown.body).toEqual({ ...params, prices: [BASE] });
    expectRejection(await request([{ ...BASE, currency: 'XYZ' }]), 'invalid_request', 'prices.0.currency');
  });
});
