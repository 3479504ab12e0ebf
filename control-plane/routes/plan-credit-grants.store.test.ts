import { expect, it } from 'vitest';
import type { ErrorCode } from '../../schemas/error-codes.ts';
import { apiOfThisFile, expectRejection } from '../api-under-test.ts';
import { auditEntries, emittedEvents } from '../subscriptions/subscriptions-under-test.ts';

/*
 * The credits that plans grant, over HTTP.
 *
 * Mutants this suite catches: grants of a published plan replaced in place; a version without a copy of the
 * grants before it; numbers from JSON.parse; the same set written as a change.
 */
const api = await apiOfThisFile();

async function newPlan({ published = false } = {}): Promise<{ planId: string }> {
  const { body } = await api.request('createPlan', { body: { productId: 'p', name: 'Pro' } });
  const params = { planId: body.id };
  if (published) await api.request('plans.publish', { params });
  return params;
}

const put = (params: { planId: string }, creditGrants: unknown, headers = {}) =>
  api.request('plans.replaceCreditGrants', { params, body: { creditGrants }, headers });
const get = (params: { planId: string }, query: Record<string, number> = {}) =>
  api.request('plans.retrieveCreditGrants', { params, query });

const USUAL = { key: 'included', amount: 500, every: 'period', priority: 100, expires: 'period_end' };
const ROLLED = { ...USUAL, key: 'rolled', rollover: { percent: 12.5, max: 40 } };
const BONUS = { key: 'bonus', amount: 0.5, every: 'month', priority: 7, expires: 'never' };

it('are replaced as a whole, with what is left out filled in', async () => {
  const params = await newPlan();
  expect((await get(params)).body).toEqual({ ...params, version: 1, creditGrants: [] });
  const { key: _, priority: __, ...least } = USUAL;
  const first = await put(params, [{ ...least, key: null }, BONUS]);
  expect(first.body).toEqual({ ...params, version: 1, creditGrants: [BONUS, USUAL] });
  expect((await put(params, [ROLLED])).body.creditGrants).toEqual([ROLLED]);
  const second = await put(params, [BONUS]);
  expect((await get(params)).body).toEqual(second.body);
  const events = await emittedEvents(api.pool, params.planId);
  expect(events.map(({ type }) => type)).toEqual(['plan.created', ...Array(3).fill('plan.updated')]);
  const entries = await auditEntries(api.pool, params.planId);
  expect(entries.at(-1)).toMatchObject({ before: { creditGrants: [ROLLED] }, after: second.body });
});

it('of a published plan are a new version, and other new versions have them as well', async () => {
  const params = await newPlan();
  await put(params, [BONUS]);
  await api.request('plans.publish', { params });
  expect((await put(params, [USUAL])).body.version).toBe(2);
  expect((await get(params, { version: 1 })).body.creditGrants).toEqual([BONUS]);
  await api.request('plans.update', { params, body: { name: 'Pro 2' } });
  expect((await get(params)).body).toEqual({ ...params, version: 3, creditGrants: [USUAL] });
  expectRejection(await get(params, { version: 4 }), 'plan_not_found', 'version');
});

it('that are there already change nothing, however they are written', async () => {
  const params = await newPlan({ published: true });
  const { body, headers } = await put(params, [BONUS, USUAL]);
  const text = JSON.stringify({ creditGrants: [USUAL, BONUS] }).replace('500', '5e2');
  const again = await api.call('PUT', `/api/v1/plans/${params.planId}/credit-grants`, { body: text });
  expect(again.body).toEqual(body);
  expectRejection(await put(params, [], { 'if-match': '"other"' }), 'precondition_failed');
  expect((await put(params, [], { 'if-match': String(headers.etag) })).body.version).toBe(3);
});

const FAULTS: Array<[unknown, ErrorCode, string]> = [
  [{ ...USUAL, amount: 0 }, 'invalid_request', 'creditGrants.0.amount'],
  [{ ...USUAL, amount: '5' }, 'invalid_request', 'creditGrants.0.amount'],
  [{ ...USUAL, every: 'week' }, 'invalid_request', 'creditGrants.0.every'],
  [{ ...USUAL, expires: undefined }, 'invalid_request', 'creditGrants.0.expires'],
  [{ ...USUAL, priority: 1001 }, 'invalid_request', 'creditGrants.0.priority'],
  [{ ...USUAL, rollover: { percent: 101 } }, 'invalid_request', 'creditGrants.0.rollover.percent'],
  [{ ...USUAL, rollover: { max: 5 } }, 'invalid_request', 'creditGrants.0.rollover.percent'],
  [{ ...BONUS, rollover: { percent: 5 } }, 'invalid_request', 'creditGrants.0.rollover'],
  [{ ...USUAL, key: '' }, 'invalid_request', 'creditGrants.0.key'],
];

it.each(FAULTS)('are rejected with the place of the fault: %j', async (grant, code, param) => {
  const params = await newPlan();
  expectRejection(await put(params, [grant]), code, param);
  expect((await get(params)).body.creditGrants).toEqual([]);
});

it('are rejected with a key twice, a number of too many digits, and for an unknown plan', async () => {
  const params = await newPlan();
  expectRejection(await put(params, [BONUS, BONUS]), 'invalid_request', 'creditGrants.1.key');
  const body = JSON.stringify({ creditGrants: [USUAL] }).replace('500', '0.0000000000001');
  const path = `/api/v1/plans/${params.planId}/credit-grants`;
  const digits = await api.call('PUT', path, { body });
  expectRejection(digits, 'value_invalid', 'creditGrants.0.amount');
  expectRejection(await put({ planId: 'none' }, [BONUS]), 'plan_not_found', 'planId');
});

it('are in the wallet of a new subscription, and are shown with their period', async () => {
  const params = await newPlan({ published: true });
  await put(params, [USUAL]);
  const { body: customer } = await api.request('customers.create');
  const subscription = { customerId: customer.id, planId: params.planId };
  const { body } = await api.request('subscriptions.create', { body: subscription });
  const wallet = await api.request('credits.retrieve', { params: { customerId: customer.id } });
  expect(wallet.body).toMatchObject({ balance: 500, unpaid: 0 });
  expect(wallet.body.grants).toMatchObject([
    {
      reason: 'Included in Pro',
      expiresAt: body.currentPeriodEnd,
      recurring: { subscriptionId: body.id, key: 'included', periodStart: body.currentPeriodStart },
    },
  ]);
});

it('of a month are found by their time when a yearly plan gets them while it runs', async () => {
  const params = await newPlan({ published: true });
  const { body: customer } = await api.request('customers.create');
  const currentPeriodStart = new Date(Date.now() - 40 * 86_400_000).toISOString();
  const subscription = { customerId: customer.id, ...params, interval: 'year', currentPeriodStart };
  const { body } = await api.request('subscriptions.create', { body: subscription });
  await put(params, [BONUS]);
  const scheduled = async () => {
    const { rows } = await api.pool.query(
      'SELECT due_at > now() AS "isAhead" FROM credit_schedules WHERE subscription_id = $1',
      [body.id],
    );
    return rows;
  };
  await expect.poll(scheduled, { timeout: 20_000 }).toEqual([{ isAhead: true }]);
  const wallet = await api.request('credits.retrieve', { params: { customerId: customer.id } });
  expect(wallet.body.grants).toEqual([]);
});
