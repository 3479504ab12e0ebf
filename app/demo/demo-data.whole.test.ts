import { expect, onTestFinished, test } from 'vitest';
import { seenInTime } from '../../tests/support/in-time.ts';
import { type Instance, startInstance } from '../../tests/support/instance.ts';
import { queryOnce } from '../../tests/support/with-client.ts';
import { CUSTOMERS } from './customers.ts';
import { DATA_DONE } from './demo-data.ts';
import { DATA_DUE } from './demo-workspace.ts';
import { DAY_MS, usageEvents } from './usage-events.ts';

const WITHIN = { timeoutMs: 120_000, everyMs: 20 };
const POLLED = { timeout: 60_000, interval: 200 };

async function firstStart(): Promise<Instance> {
  const instance = await startInstance({ SEED_DEMO: 'true' });
  onTestFinished(() => instance.remove());
  return instance;
}

/** While Postgres is unavailable there are no rows. */
async function query<Row extends object>(instance: Instance, sql: string, values: unknown[] = []) {
  return await queryOnce<Row>(instance.postgresUrl(), sql, values).catch(() => []);
}

async function factOf(instance: Instance, name: string): Promise<string | undefined> {
  const rows = await query<{ value: Buffer }>(instance, 'SELECT value FROM installation WHERE name = $1', [
    name,
  ]);
  return rows[0]?.value.toString();
}

async function filled(instance: Instance): Promise<void> {
  await seenInTime(() => factOf(instance, DATA_DONE), WITHIN, 'the data of the demo');
}

/** What requests with a key have changed, by operation and mode. */
async function changes(instance: Instance): Promise<Record<string, number>> {
  const rows = await query<{ action: string; n: number }>(
    instance,
    `SELECT split_part(environment, ':', 2) || ' ' || action AS action, count(*)::integer AS n
     FROM audit_log WHERE actor LIKE 'key_%' GROUP BY 1 ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ action, n }) => [action, n]));
}

const CHANGES = {
  'test addons.create': 1,
  'test addons.replaceEntitlements': 1,
  'test addons.replacePrices': 1,
  'test budgets.put': 2,
  'test createPlan': 4,
  'test createWebhookEndpoint': 2,
  'test credits.grant': 5,
  'test credits.grantRecurring': 22,
  'test customers.create': 30,
  'test features.create': 6,
  'test meters.create': 2,
  'test overrides.put': 2,
  'test plans.publish': 3,
  'test plans.replaceCreditGrants': 2,
  'test plans.replaceEntitlements': 3,
  'test plans.replacePrices': 3,
  'test subscriptions.cancel': 2,
  'test subscriptions.create': 30,
  'test subscriptions.update': 3,
  'test webhookEndpoints.update': 1,
};

async function get(instance: Instance, path: string): Promise<Record<string, unknown>> {
  const authorization = `Bearer ${instance.keys().test.secret}`;
  const response = await fetch(`${instance.origin}/api/v1/${path}`, { headers: { authorization } });
  return (await response.json()) as Record<string, unknown>;
}

/** Each event counts once. */
async function expectUsage(instance: Instance): Promise<void> {
  const nowMs = Date.parse((await factOf(instance, DATA_DUE)) ?? '');
  const from = new Date(nowMs - 40 * DAY_MS).toISOString();
  const to = new Date(nowMs).toISOString();
  for (const meterKey of ['api-calls', 'ai-tokens'] as const) {
    const events = CUSTOMERS.flatMap((customer) => usageEvents(customer, meterKey, nowMs));
    const total = events.reduce((sum, { value }) => sum + value, 0);
    const read = () => get(instance, `meters/${meterKey}/usage?from=${from}&to=${to}&consistency=strong`);
    await expect.poll(read, POLLED).toMatchObject({ total, count: events.length });
  }
}

/** Red when a part is left out, when live is filled too, and when what fails is logged as an error. */
test('a first start fills test mode, and shows what there is to see', async () => {
  const instance = await firstStart();
  await filled(instance);
  expect(await changes(instance)).toEqual(CHANGES);
  await expectUsage(instance);
  const stages = [{ sessions: 64 }, { sessions: 21 }, { sessions: 8 }];
  expect(await get(instance, 'funnel')).toMatchObject({ stages });
  expect(await get(instance, 'entitlements/cascade/api-calls')).toMatchObject({
    allowed: false,
    reasonCode: 'limit_reached',
  });
  expect(await get(instance, 'customers/aurora/cost')).toMatchObject({ totals: [{ currency: 'EUR' }] });
  const ledger = () => get(instance, 'customers/ember/credits');
  await expect.poll(ledger, POLLED).toMatchObject({ balance: 0, unpaid: expect.any(Number) });
  await expect.poll(() => deliveries(instance), POLLED).toEqual({ held: true, failing: true });
  expect(instance.errors()).toEqual([]);

  await instance.stop();
  await instance.start();
  expect(await get(instance, 'plans')).toMatchObject({ total: 3, data: [{ version: 1 }, {}, {}] });
  expect(await changes(instance)).toEqual(CHANGES);
  expect(instance.written().match(/the demo workspace has its data/g)).toHaveLength(1);
});

/** One that is down has an attempt, one that was switched off is held. */
async function deliveries(instance: Instance) {
  const { data } = (await get(instance, 'webhooks/endpoints')) as { data: Array<{ id: string }> };
  const lists = data.map(({ id }) => get(instance, `webhooks/endpoints/${id}/deliveries?pageSize=100`));
  const all = (await Promise.all(lists)).flatMap((list) => list.data as Array<Record<string, unknown>>);
  return {
    held: all.some(({ status }) => status === 'held'),
    failing: all.some(({ status, lastError }) => status === 'pending' && lastError === 'connect_failed'),
  };
}

/** Red when an interrupted start is given up, or its requests create a second time. */
test('it is continued after a kill at any time, and everything is there once', async () => {
  const instance = await firstStart();
  await atLeast(instance, 'meters', 1);
  await instance.kill('control side');
  await atLeast(instance, 'customers', 3);
  await instance.kill('data plane');
  await atLeast(instance, 'customers', 12);
  await instance.kill('supervisor');
  await instance.start();
  await atLeast(instance, 'subscriptions', 20);
  await instance.kill('control side');
  await atLeast(instance, 'log_ranges', 1);
  await instance.kill('control side');
  await filled(instance);
  expect(await changes(instance)).toEqual(CHANGES);
  await expectUsage(instance);
});

async function atLeast(instance: Instance, table: string, n: number): Promise<void> {
  const look = async () => {
    const rows = await query<{ n: number }>(instance, `SELECT count(*)::integer AS n FROM ${table}`);
    return (rows[0]?.n ?? 0) >= n || undefined;
  };
  await seenInTime(look, WITHIN, `${n} of ${table}`);
}
