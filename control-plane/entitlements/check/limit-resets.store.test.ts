import { expect, it } from 'vitest';
import { addMonths } from '../../../domain/rules/billing-period.ts';
import { expectRejection } from '../../api-under-test.ts';
import { usageOfThisFile } from '../../usage/usage-under-test.ts';
import { customerGrantsUnderTest } from '../customer-grants-under-test.ts';

/*
 * Limits with an interval of their own, over HTTP and a real log and ClickHouse.
 *
 * Mutants this suite catches: two features on one meter decided by one counter; the billing period in place
 * of the window; an override that forgets how what it replaces resets; the shortest interval for a sum.
 */
const DAY_MS = 86_400_000;

const usage = await usageOfThisFile();
const { api } = usage;
const made = customerGrantsUnderTest(api);
await made.feature('monthly', 'metered', 'sum');
await made.feature('daily', 'metered', 'sum');
await made.feature('seats', 'limit');

let used = 0;

async function use(customerId: string, value: number, occurredAtMs: number): Promise<void> {
  used += 1;
  const happening = { id: `used ${used}`, units: BigInt(value) * 10n ** 12n, createdAtMs: occurredAtMs };
  const logged = usage.logged({ ...happening, occurredAtMs, properties: {} }, 'sum');
  await usage.load(await usage.append([{ ...logged, customerId }]));
}

/** Of a year that began 40 days and an hour ago. */
async function yearly(given: Record<string, unknown>) {
  const customerId = await made.customer();
  const startMs = Date.now() - 40 * DAY_MS - 3_600_000;
  const fields = { interval: 'year', currentPeriodStart: new Date(startMs).toISOString() };
  await made.subscribe(customerId, given, fields);
  return { customerId, startMs, strong: { consistency: 'strong' } };
}

async function counter(customerId: string) {
  const params = { customerId, meterId: 'sum' };
  return (await api.request('usage.retrieve', { params, query: {} })).body;
}

const iso = (ms: number) => new Date(ms).toISOString();

it('count usage since they were last reset, also two of one meter in one request', async () => {
  const limits = { monthly: { value: 100, resets: 'month' }, daily: { value: 5, resets: 'day' } };
  const { customerId, startMs } = await yearly(limits);
  const monthMs = addMonths(startMs, 1);
  await use(customerId, 90, startMs + DAY_MS);
  await use(customerId, 30, monthMs + 60_000);
  await use(customerId, 4, Date.now() - 1_000);
  const features = ['monthly', 'daily'].map((featureKey) => ({ featureKey }));
  for (const consistency of ['strong', 'eventual']) {
    const { body } = await api.request('entitlements.checkMany', {
      query: { consistency },
      body: { customerId, features },
    });
    expect(body.data).toMatchObject([
      { allowed: true, current: 34, remaining: 66, resets: 'month', resetsAt: iso(addMonths(startMs, 2)) },
      { allowed: true, current: 4, remaining: 1, resets: 'day', resetsAt: iso(startMs + 41 * DAY_MS) },
    ]);
  }
  expect(await made.check(customerId, 'daily', { requested: 2 })).toMatchObject({ allowed: false });
  expect(await counter(customerId)).toMatchObject({ current: 34, limit: 100, periodStart: iso(monthMs) });
  const list = await made.list(customerId);
  expect(list).toMatchObject([{ featureKey: 'daily', resets: 'day' }, { resets: 'month' }]);
});

// Red when the decisions of many customers, which GraphQL reads together, are made by the billing period.
it('are decided for many customers as for one', async () => {
  const limits = { monthly: { value: 100, resets: 'month' }, daily: { value: 5, resets: 'day' } };
  const { customerId, startMs } = await yearly(limits);
  const { customerId: other } = await yearly({ monthly: { value: 10, resets: 'never' } });
  await use(customerId, 90, startMs + DAY_MS);
  await use(customerId, 4, Date.now() - 1_000);
  await use(other, 7, startMs + DAY_MS);
  const fields = 'entitlements { featureKey allowed current remaining resets resetsAt }';
  const [a, b] = [customerId, other].map((id) => `customer(id: "${id}") { ${fields} }`);
  const { body } = await api.call('POST', '/graphql', { body: { query: `{ a: ${a} b: ${b} }` } });
  const own = { allowed: true, current: '4' };
  expect(body).toMatchObject({
    data: {
      a: {
        entitlements: [
          { ...own, featureKey: 'daily', remaining: '1', resetsAt: iso(startMs + 41 * DAY_MS) },
          { ...own, featureKey: 'monthly', remaining: '96', resetsAt: iso(addMonths(startMs, 2)) },
        ],
      },
      b: { entitlements: [{ featureKey: 'monthly', current: '7', remaining: '3', resetsAt: null }] },
    },
  });
});

it('that never reset count from the start of the subscription on', async () => {
  const { customerId, startMs, strong } = await yearly({ monthly: { value: 100, resets: 'never' } });
  await use(customerId, 100, startMs + DAY_MS);
  const decision = await made.check(customerId, 'monthly', strong);
  expect(decision).toMatchObject({ allowed: false, current: 100, resets: 'never' });
  expect(decision).not.toHaveProperty('resetsAt');
  expect(decision.reason).not.toContain('resets at');
});

it('of several sources last as long as the longest, and an override resets as what it replaces', async () => {
  const { customerId, startMs, strong } = await yearly({ monthly: { value: 10, resets: 'month' } });
  await use(customerId, 8, startMs + DAY_MS);
  expect(await made.check(customerId, 'monthly', strong)).toMatchObject({ current: 0, limit: 10 });
  await made.override(customerId, 'monthly', { value: 20 });
  expect(await made.check(customerId, 'monthly', strong)).toMatchObject({ limit: 20, resets: 'month' });
  expect(await made.list(customerId)).toMatchObject([{ effectiveValue: 20, resets: 'month' }]);
  expect(await counter(customerId)).toMatchObject({ limit: 20, periodStart: iso(addMonths(startMs, 1)) });
  await made.override(customerId, 'monthly', { value: 20, resets: 'billing_period' });
  expect(await made.check(customerId, 'monthly', strong)).toMatchObject({ current: 8, limit: 20 });
  expect(await counter(customerId)).toMatchObject({ current: 8, periodStart: iso(startMs) });
  const addonId = await made.addon('more', { monthly: 5, seats: 1 });
  const fields = { addons: [{ addonId, quantity: 2 }] };
  const other = await made.customer();
  await made.subscribe(other, { monthly: { value: 10, resets: 'week' } }, fields);
  expect(await made.check(other, 'monthly', strong)).toMatchObject({ limit: 20, resets: 'week' });
  await made.subscribe(other, { monthly: { value: 1, resets: 'billing_period' } });
  const sum = await made.check(other, 'monthly', strong);
  expect(sum).toMatchObject({ limit: 21 });
  expect(sum).not.toHaveProperty('resets');
  expect(await counter(other)).toMatchObject({ limit: 21, periodEnd: sum.resetsAt });
});

it('are shown as they were given, and are for metered features alone', async () => {
  const planId = await made.plan({ monthly: { value: 10, resets: 'month' }, daily: 3 });
  const { body } = await api.request('plans.retrieveEntitlements', { params: { planId }, query: {} });
  const [daily, monthly] = body.entitlements;
  expect(monthly).toEqual({ ...daily, featureKey: 'monthly', value: 10, resets: 'month' });
  expect(daily).not.toHaveProperty('resets');
  const put = (entitlement: object) =>
    api.request('plans.replaceEntitlements', { params: { planId }, body: { entitlements: [entitlement] } });
  const seats = { featureKey: 'seats', value: 1, resets: 'day' };
  expectRejection(await put(seats), 'invalid_request', 'entitlements.0.resets');
  expectRejection(await put({ ...seats, resets: 'hour' }), 'invalid_request', 'entitlements.0.resets');
  const params = { customerId: await made.customer(), featureKey: 'seats' };
  const override = await api.request('overrides.put', { params, body: { value: 1, resets: 'day' } });
  expectRejection(override, 'invalid_request', 'resets');
});
