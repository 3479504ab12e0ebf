import { describe, expect, it, vi } from 'vitest';
import { SIMULATIONS_KEPT_MAX } from '../../schemas/resources/simulations.ts';
import { expectRejection, newCustomer } from '../api-under-test.ts';
import { isoText, usageOfThisFile } from '../usage/usage-under-test.ts';

/*
 * Simulations over HTTP, from a real log, Postgres and ClickHouse.
 *
 * Mutants this suite catches: a simulated price that is charged as well as that of the plan; add-ons left
 * out; a flat price charged again where the span begins within its period; limits of the plan that a customer
 * has, or all of them by the billing period; quantiles of another currency; results of another environment.
 */
const usage = await usageOfThisFile();
const { api, nowMs } = usage;
const WAIT = { timeout: 60_000, interval: 50 };
const DAY_MS = 86_400_000;
const at = (days: number) => Math.floor(nowMs / DAY_MS) * DAY_MS + days * DAY_MS;
const OWN = { currency: 'EUR', interval: 'day', intervalCount: 20 };
const SPAN = { from: isoText(at(-12)), to: isoText(at(-2)) };
let made = 0;

const calls = (unitAmount: number, included = 0) => {
  return { ...OWN, key: 'calls', model: 'per_unit', meterKey: 'count', unitAmount, included };
};
const base = (amount: number, fields = {}) => ({ ...OWN, key: 'base', model: 'flat', amount, ...fields });

async function newPlan(prices: object[], limit = 1_000, more = {}): Promise<{ id: string; key: string }> {
  made += 1;
  const { body: plan } = await api.request('createPlan', { body: { productId: 'p', name: `Plan ${made}` } });
  const params = { planId: plan.id };
  const entitlements = [{ featureKey: 'calls', value: limit, ...more }];
  await api.request('plans.replaceEntitlements', { params, body: { entitlements } });
  await api.request('plans.replacePrices', { params, body: { prices } });
  await api.request('plans.publish', { params });
  return plan;
}

/** In a period of 20 days that began 10 days ago, with so many calls on each of the last five. */
async function subscribed(planId: string, daily: number, fields: object = {}): Promise<string> {
  const { body: customer } = await api.request('customers.create', { body: newCustomer() });
  const period = { currentPeriodStart: isoText(at(-10)), currentPeriodEnd: isoText(at(10)) };
  const term = { ...period, interval: 'day', intervalCount: 20 };
  const body = { customerId: customer.id, planId, ...term, ...fields };
  expect((await api.request('subscriptions.create', { body })).status).toBe(201);
  const { environment } = usage;
  const events = [-5, -4, -3, -2, -1].flatMap((days) =>
    Array.from({ length: daily }, (_, n) => {
      made += 1;
      const id = `use_${String(made).padStart(26, 's')}`;
      const own = { environment, customerId: customer.id, meterKey: 'count', id, properties: {} };
      return { ...own, occurredAtMs: at(days) + n * 1_000, createdAtMs: nowMs };
    }),
  );
  await usage.load(await usage.append(events));
  return customer.id;
}

async function simulated(body: object, query: Record<string, string | number> = {}) {
  const created = await api.request('simulations.create', { body: { ...SPAN, ...body } });
  expect([created.status, created.body]).toMatchObject([202, { status: 'pending' }]);
  const params = { simulationId: created.body.id };
  return vi.waitFor(async () => {
    const { body: found } = await api.request('simulations.retrieve', { params, query });
    expect(found.status).toBe('completed');
    return found;
  }, WAIT);
}

async function currentOf(customerId: string): Promise<number> {
  const { body } = await api.request('cost.ofCustomer', { params: { customerId }, query: SPAN });
  return body.totals[0]?.amount ?? 0;
}

await api.request('features.create', {
  body: { key: 'calls', name: 'Calls', type: 'metered', meterKey: 'count' },
});
const small = await newPlan([base(10), calls(1)]);
const large = await newPlan([base(30), calls(0.5, 4)], 17);
const { body: addon } = await api.request('addons.create', { body: { key: 'support', name: 'Support' } });
await api.request('addons.replacePrices', { params: { addonId: addon.id }, body: { prices: [base(7)] } });
const quiet = await subscribed(small.id, 1, { addons: [{ addonId: addon.id, quantity: 2 }] });
const busy = await subscribed(small.id, 6);
const already = await subscribed(large.id, 2);
const trial = await subscribed(small.id, 3, { trialEnd: isoText(at(10)), currentPeriodEnd: undefined });

describe('a simulation', () => {
  it('compares what every subscriber pays with what it would pay on another plan', async () => {
    const found = await simulated({ planId: large.key, all: true });
    expect(found).toMatchObject({ planId: large.id, ...SPAN, progress: { customers: 4, done: 4 } });
    const { data, total } = found.customers;
    const byCustomer = Object.fromEntries(data.map((one) => [one.customerId, one]));
    // Three days of calls are in the span: 10 + 3 + 14 and 30 + 14, 10 + 18 and 30 + 7, 30 + 1.
    const totals = (current: number, then: number) => [
      { currency: 'EUR', current, simulated: then, difference: then - current },
    ];
    expect([total, data.map(({ customerId }) => customerId)]).toEqual([
      4,
      [quiet, busy, ...[already, trial].sort()],
    ]);
    expect(byCustomer[quiet]).toEqual({ customerId: quiet, totals: totals(27, 44), passedLimits: [] });
    expect(byCustomer[busy]?.totals).toEqual(totals(28, 37));
    expect(byCustomer[already]?.totals).toEqual(totals(31, 31));
    expect(byCustomer[trial]?.totals).toEqual([]);
    for (const id of [quiet, busy, already])
      expect(byCustomer[id]?.totals[0]?.current).toBe(await currentOf(id));
    const passed = {
      featureKey: 'calls',
      limit: 17,
      soft: false,
      used: 18,
      from: isoText(at(-10)),
      to: SPAN.to,
    };
    expect(byCustomer[busy]?.passedLimits).toEqual([passed]);
    expect(found.totals).toEqual([
      {
        ...{ currency: 'EUR', customers: 3, current: 86, simulated: 112, difference: 26 },
        quantiles: [
          [0.05, 0],
          [0.25, 0],
          [0.5, 9],
          [0.75, 17],
          [0.95, 17],
        ].map(([share, difference]) => ({ share, difference })),
      },
    ]);
  });

  it('is of named customers and prices, and lists those that pass a limit', async () => {
    const prices = [base(1, { currency: 'USD' }), calls(2)];
    const found = await simulated({ prices, customerIds: [busy, quiet, busy] });
    expect(found.customers.data).toEqual([
      expect.objectContaining({ customerId: busy, passedLimits: [] }),
      expect.objectContaining({ customerId: quiet }),
    ]);
    expect(found.customers.data[0]?.totals).toEqual([
      { currency: 'EUR', current: 28, simulated: 36, difference: 8 },
      { currency: 'USD', current: 0, simulated: 1, difference: 1 },
    ]);
    expect(found.totals?.map(({ currency, customers }) => [currency, customers])).toEqual([
      ['EUR', 2],
      ['USD', 2],
    ]);
    const limits = await simulated({ planId: large.id, all: true }, { passedLimits: 'true' });
    expect(limits.customers).toMatchObject({ total: 1, data: [{ customerId: busy }] });
    const second = await simulated({ planId: large.id, all: true }, { page: 2, pageSize: 1 });
    expect(second.customers).toMatchObject({ total: 4, data: [{ customerId: busy }] });
  });

  it.each([
    ['day', -12, 5, { used: 6, from: isoText(at(-5)), to: isoText(at(-4)) }],
    ['day', -12, 6, undefined],
    ['week', -12, 11, { used: 12, from: isoText(at(-10)), to: isoText(at(-3)) }],
    ['never', -4, 17, { used: 18, from: isoText(at(-10)), to: SPAN.to }],
  ])('finds the limits by the %s that are passed since %i days: %i', async (resets, since, limit, passed) => {
    const plan = await newPlan([], limit, { resets });
    const found = await simulated({ planId: plan.id, customerIds: [busy], from: isoText(at(since)) });
    const expected = passed ? [{ featureKey: 'calls', limit, soft: false, ...passed }] : [];
    expect(found.customers.data[0]?.passedLimits).toEqual(expected);
  });

  it('charges no flat amount where its period began before the time that is simulated', async () => {
    const span = { from: isoText(at(-5)), to: isoText(at(-2)) };
    const found = await simulated({ planId: large.id, customerIds: [busy], ...span });
    expect(found.customers.data[0]?.totals).toEqual([
      { currency: 'EUR', current: 18, simulated: 7, difference: -11 },
    ]);
  });
});

describe('a simulation that cannot be made', () => {
  it('is rejected', async () => {
    const reject = async (body: object, code: Parameters<typeof expectRejection>[1], param: string) =>
      expectRejection(await api.request('simulations.create', { body: { ...SPAN, ...body } }), code, param);
    await reject({ all: true }, 'invalid_request', 'planId');
    await reject({ planId: small.id, prices: [], all: true }, 'invalid_request', 'prices');
    await reject({ planId: small.id }, 'invalid_request', 'customerIds');
    await reject({ planId: small.id, all: true, customerIds: [busy] }, 'invalid_request', 'all');
    await reject({ planId: 'none', all: true }, 'plan_not_found', 'planId');
    await reject({ planId: small.id, customerIds: [busy, 'none'] }, 'customer_not_found', 'customerIds.1');
    await reject({ planId: small.id, all: true, to: SPAN.from }, 'invalid_request', 'to');
    const long = { from: isoText(at(-401)), to: isoText(at(0)) };
    await reject({ planId: small.id, all: true, ...long }, 'invalid_request', 'to');
    const unknown = { ...calls(1), meterKey: 'none' };
    await reject({ prices: [unknown], all: true }, 'meter_not_found', 'prices.0.meterKey');
    const none = await api.request('simulations.retrieve', { params: { simulationId: 'sim_none' } });
    expectRejection(none, 'not_found', 'simulationId');
  });

  // Red when those that are requested at the same time do not count each other.
  it('is one too many, also of those that are requested at once', async () => {
    await api.pool.query(
      `INSERT INTO simulations (environment, id, status, offer, starts_at, ends_at, customers, worked_at,
                                created_at)
       SELECT environment, id || n, status, offer, starts_at, ends_at, customers, worked_at, created_at
         FROM (SELECT * FROM simulations WHERE environment = $1 AND status = 'completed' LIMIT 1) AS one,
              generate_series(1, $2 - (SELECT count(*) FROM simulations WHERE environment = $1) - 2) AS n`,
      [usage.environment, SIMULATIONS_KEPT_MAX],
    );
    const body = { ...SPAN, planId: small.id, all: true };
    const all = await Promise.all(
      Array.from({ length: 8 }, () => api.request('simulations.create', { body })),
    );
    const rejected = all.filter(({ status }) => status === 429);
    expect(rejected).toHaveLength(6);
    for (const one of rejected) expectRejection(one, 'rate_limited');
    expect(rejected[0]?.headers['retry-after']).toBe('1');
  });
});
