import { describe, expect, it, vi } from 'vitest';
import type { ErrorCode } from '../../schemas/error-codes.ts';
import { lockWaits } from '../../tests/support/lock-waits.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { inMinutes, subscriptionsUnderTest } from '../subscriptions/subscriptions-under-test.ts';

/*
 * Subscriptions: creating, reading and listing them.
 *
 * Mutants this suite catches: the customer or the plan read without its lock (a rival archives it meanwhile);
 * the environment left out of a statement; an event written twice or not at all; an add-on that is named
 * twice accepted.
 */
const api = await apiOfThisFile();
const made = subscriptionsUnderTest(api);

const WAIT = { timeout: 10_000, interval: 20 };

describe('a new subscription', () => {
  it('is active for a month from now on, and is notified with the change of the plan', async () => {
    const [customerId, planId] = [await made.customer(), await made.plan()];
    const before = Date.now();
    const { body, headers } = await made.subscribe({ customerId, planId });
    expect(body).toEqual({
      id: expect.stringMatching(/^sub_[a-z2-7]{26}$/),
      customerId,
      planId,
      planName: expect.stringMatching(/^Plan \d+$/),
      status: 'active',
      currentPeriodStart: body.createdAt,
      currentPeriodEnd: expect.any(String),
      interval: 'month',
      intervalCount: 1,
      billingAnchor: body.createdAt,
      addons: [],
      createdAt: expect.any(String),
    });
    const days = (Date.parse(body.currentPeriodEnd) - Date.parse(body.currentPeriodStart)) / 86_400_000;
    expect(days).toBeGreaterThanOrEqual(28);
    expect(days).toBeLessThanOrEqual(31);
    expect(Date.parse(body.createdAt)).toBeGreaterThanOrEqual(before);
    const data = { customerId, subscriptionId: body.id, planId };
    expect(await made.notified(body.id)).toEqual([{ type: 'subscription.created', data }]);
    expect(await made.notified(customerId)).toEqual([
      { type: 'customer.updated', data: { customerId, changes: ['plan'] } },
    ]);
    expect(await made.recorded(body.id)).toMatchObject([
      { action: 'subscriptions.create', before: null, after: { ...body } },
    ]);
    const read = await api.request('subscriptions.retrieve', { params: { subscriptionId: body.id } });
    expect(read.body).toEqual(body);
    expect(read.headers.etag).toBe(headers.etag);
  });

  it('takes every field, and names of customer, plan and add-on by key', async () => {
    const addons = [await made.addon(), await made.addon()].sort();
    const [customerId, planId] = [await made.customer(), await made.plan({ version: 3 })];
    await api.pool.query(`UPDATE customers SET external_id = 'ext-1' WHERE id = $1`, [customerId]);
    await api.pool.query(`UPDATE plans SET key = 'pro-1' WHERE id = $1`, [planId]);
    await api.pool.query(`UPDATE addons SET key = 'seats-1' WHERE id = $1`, [addons[1]]);
    const given = {
      currentPeriodStart: '2026-01-31T00:00:00.000Z',
      currentPeriodEnd: '2098-02-28T00:00:00.000Z',
      cancelAt: '2098-01-01T00:00:00.000Z',
      trialEnd: '2097-01-01T00:00:00.000Z',
      processorSubscriptionId: 'si_1',
      planVersion: 2,
    };
    const { body, text } = await api.call('POST', '/api/v1/subscriptions', {
      body: `${JSON.stringify({
        ...given,
        currentPeriodStart: '2026-01-31T05:30:00+05:30',
        customerId: 'ext-1',
        planId: 'pro-1',
        addons: [
          { addonId: 'seats-1', quantity: 2 },
          { addonId: addons[0], quantity: 1 },
        ],
      }).slice(0, -1)},"metadata":{"rate":123456789.000000000001}}`,
    });
    expect(body).toMatchObject({ ...given, customerId, planId, status: 'trialing' });
    expect(body.addons).toEqual([
      { addonId: addons[0], quantity: 1 },
      { addonId: addons[1], quantity: 2 },
    ]);
    expect(text).toContain('"metadata":{"rate":123456789.000000000001}');
  });

  it('trials only while its end lies ahead', async () => {
    expect((await made.subscribe({ trialEnd: inMinutes(5) })).body.status).toBe('trialing');
    expect((await made.subscribe({ trialEnd: inMinutes(-5) })).body.status).toBe('active');
    expect((await made.subscribe({ trialEnd: inMinutes(5), status: 'active' })).body.status).toBe('active');
    for (const trialEnd of [undefined, inMinutes(-5)]) {
      const response = await made.subscribe({ status: 'trialing', trialEnd });
      expectRejection(response, 'invalid_request', 'trialEnd');
    }
  });

  it.each(['incomplete', 'active', 'past_due', 'paused'])('may be created %s', async (status) => {
    expect((await made.subscribe({ status })).body.status).toBe(status);
  });

  const rejected: Array<[what: string, fields: Record<string, unknown>, param: string]> = [
    ['no customer', { customerId: null }, 'customerId'],
    ['a number for a plan', { planId: 5 }, 'planId'],
    ['the status canceled', { status: 'canceled' }, 'status'],
    ['the status unpaid', { status: 'unpaid' }, 'status'],
    ['the status incomplete_expired', { status: 'incomplete_expired' }, 'status'],
    ['an unknown status', { status: 'constructor' }, 'status'],
    ['an end in the past of now', { currentPeriodEnd: '2020-01-01T00:00:00Z' }, 'currentPeriodEnd'],
    [
      'an empty period',
      { currentPeriodStart: '2026-01-01T00:00:00Z', currentPeriodEnd: '2026-01-01T01:00:00+01:00' },
      'currentPeriodEnd',
    ],
    ['a period beyond our calendar', { currentPeriodStart: '2099-12-31T00:00:00Z' }, 'currentPeriodEnd'],
    ['a time that is none', { cancelAt: '2026-02-30T00:00:00Z' }, 'cancelAt'],
    ['a time without an offset', { trialEnd: '2026-02-20T00:00:00' }, 'trialEnd'],
    ['version 0', { planVersion: 0 }, 'planVersion'],
    ['a version that is not there yet', { planVersion: 2 }, 'planVersion'],
    ['a version beyond integers', { planVersion: 2 ** 31 }, 'planVersion'],
    ['an empty processor id', { processorSubscriptionId: '' }, 'processorSubscriptionId'],
    ['half an add-on', { addons: [{ addonId: 'x', quantity: 0.5 }] }, 'addons.0.quantity'],
    ['no add-on', { addons: [{ addonId: 'x', quantity: 0 }] }, 'addons.0.quantity'],
    ['metadata that is nested', { metadata: { a: [] } }, 'metadata.a'],
  ];
  it.each(rejected)('is rejected with %s, and nothing is left of it', async (_, fields, param) => {
    const customerId = await made.customer();
    expectRejection(await made.subscribe({ customerId, ...fields }), 'invalid_request', param);
    expect(await made.notified(customerId)).toEqual([]);
  });

  it('is rejected for what is unknown or archived', async () => {
    const expectRejected = async (fields: object, ...[code, param]: [ErrorCode, string]) =>
      expectRejection(await made.subscribe({ ...fields }), code, param);
    await expectRejected({ customerId: `cus_'; --` }, 'customer_not_found', 'customerId');
    await expectRejected({ planId: '__proto__' }, 'plan_not_found', 'planId');
    await expectRejected({ planId: await made.plan({ status: 'archived' }) }, 'plan_archived', 'planId');
    expect((await made.subscribe({ planId: await made.plan({ status: 'draft' }) })).status).toBe(201);
    const customerId = await made.customer();
    await api.request('customers.archive', { params: { customerId } });
    await expectRejected({ customerId }, 'customer_archived', 'customerId');
    const addonId = await made.addon();
    const addons = [addonId, 'nothing'].map((id) => ({ addonId: id, quantity: 1 }));
    await expectRejected({ addons }, 'not_found', 'addons.1.addonId');
    const twice = [addonId, addonId].map((id) => ({ addonId: id, quantity: 1 }));
    await expectRejected({ addons: twice }, 'invalid_request', 'addons.1.addonId');
  });

  it('knows nothing of another mode', async () => {
    const test = { key: api.keys.test.secret };
    const { body } = await made.subscribe();
    const { customerId, planId } = body;
    const request = (fields: object) =>
      api.request('subscriptions.create', { ...test, body: { customerId, planId, ...fields } });
    expectRejection(await request({}), 'customer_not_found', 'customerId');
    const own = await api.request('customers.create', test);
    expectRejection(await request({ customerId: own.body.id }), 'plan_not_found', 'planId');
    const params = { subscriptionId: body.id };
    const read = await api.request('subscriptions.retrieve', { ...test, params });
    expectRejection(read, 'subscription_not_found', 'subscriptionId');
    expect((await api.request('subscriptions.list', test)).body.total).toBe(0);
    expect((await api.request('subscriptions.list', { ...test, query: { customerId } })).body.total).toBe(0);
  });

  it("has the processor's id for itself within the environment, also between rivals", async () => {
    const processorSubscriptionId = 'si_rivals';
    const rivals = Array.from({ length: 8 }, () => made.subscribe({ processorSubscriptionId }));
    const rejected = (await Promise.all(rivals)).filter(({ status }) => status !== 201);
    expect(rejected).toHaveLength(7);
    for (const one of rejected) expectRejection(one, 'already_exists', 'processorSubscriptionId');
  });

  // Red without FOR SHARE in control-plane/store/subscribed.ts: it is created for an archived plan or
  // customer.
  it.each([
    ['customers', 'customer_archived', 'customerId'],
    ['plans', 'plan_archived', 'planId'],
  ] as const)(
    'waits for one of the %s that is being archived, and is rejected',
    async (table, code, param) => {
      const named = { customerId: await made.customer(), planId: await made.plan() };
      const rival = await api.pool.connect();
      await rival.query('BEGIN');
      await rival.query(`UPDATE ${table} SET status = 'archived' WHERE id = $1`, [named[param]]);
      let hasResponse = false;
      const requested = made.subscribe(named).finally(() => {
        hasResponse = true;
      });
      await vi.waitFor(async () => expect(hasResponse || (await lockWaits(api.pool)) === 1).toBe(true), WAIT);
      await rival.query('COMMIT');
      rival.release();
      expectRejection(await requested, code, param);
    },
  );
});

describe('the list of subscriptions', () => {
  it('contains those of a customer, by id or externalId, or of a status', async () => {
    const customerId = await made.customer();
    await api.pool.query(`UPDATE customers SET external_id = 'ext-list' WHERE id = $1`, [customerId]);
    const ids = [];
    for (const status of ['active', 'paused', 'active']) {
      ids.push((await made.subscribe({ customerId, status })).body.id);
    }
    const list = async (query: Record<string, string>) =>
      (await api.request('subscriptions.list', { query })).body.data.map((one: { id: string }) => one.id);
    expect(await list({ customerId })).toEqual(ids.toReversed());
    expect(await list({ customerId: 'ext-list' })).toEqual(ids.toReversed());
    expect(await list({ customerId, status: 'paused' })).toEqual([ids[1]]);
    expect(await list({ customerId: 'cus_unknown' })).toEqual([]);
    const page = await api.request('subscriptions.list', { query: { customerId, page: 2, pageSize: 2 } });
    expect(page.body).toMatchObject({ total: 3, totalPages: 2, hasPrev: true, hasNext: false });
    expect(page.body.data.map((one: { id: string }) => one.id)).toEqual([ids[0]]);
    const bad = await api.request('subscriptions.list', { query: { status: 'dead' } });
    expectRejection(bad, 'invalid_request', 'status');
  });
});
