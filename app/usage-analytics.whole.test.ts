import { request } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { instanceOfThisFile } from '../tests/support/instance-of-this-file.ts';
import { startStopwatch } from '../tests/support/stopwatch.ts';

/*
 * Levels and the live stream against the real processes: every way by which a share changes reaches the list,
 * and a stream passes the data plane and does not hold up a stop.
 *
 * Breaks that it catches: a deleted budget, an override, a plan's change or a cancelled subscription that
 * does not settle the level again; a response that is collected before it is passed on; a stop that waits for
 * the stream.
 */
const instance = await instanceOfThisFile();
const headers = { authorization: `Bearer ${instance.keys().live.secret}` };
const WAIT = { timeout: 30_000, interval: 50 };

// biome-ignore lint/suspicious/noExplicitAny: a test reads the fields it expects
async function call(method: string, path: string, body?: object): Promise<any> {
  const response = await request(`${instance.origin}/api/v1${path}`, {
    method: method as 'GET',
    headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.body.text();
  expect(response.statusCode, text).toBeLessThan(300);
  return text === '' ? {} : JSON.parse(text);
}

let used = 0;

async function use(customerId: string, value: number): Promise<void> {
  used += 1;
  await call('POST', '/usage/events', {
    ...{ customerId, meterId: 'calls', value, idempotencyKey: `use-${used}` },
  });
}

const levelOf = async (customerId: string) => {
  const { data } = await call('GET', '/usage/levels?above=0&limit=1000');
  return data.find((one: { customerId: string }) => one.customerId === customerId);
};

const becomes = (customerId: string, expected: object | undefined) =>
  vi.waitFor(async () => {
    const level = await levelOf(customerId);
    if (expected) expect(level).toMatchObject(expected);
    else expect(level).toBeUndefined();
  }, WAIT);

await call('POST', '/meters', { key: 'calls', name: 'Calls', aggregation: 'sum' });
await call('POST', '/features', { key: 'api', name: 'API', type: 'metered', meterKey: 'calls' });

async function newPlan(value: number | null): Promise<string> {
  const { id } = await call('POST', '/plans', { productId: 'p', name: `Plan ${value}` });
  await call('PUT', `/plans/${id}/entitlements`, { entitlements: [{ featureKey: 'api', value }] });
  return id;
}

async function newCustomer(planId: string): Promise<{ customerId: string; subscriptionId: string }> {
  const { id: customerId } = await call('POST', '/customers', { name: 'Ada', email: 'ada@example.com' });
  const { id: subscriptionId } = await call('POST', '/subscriptions', { customerId, planId });
  return { customerId, subscriptionId };
}

describe('the levels of an instance', () => {
  it('follow usage, plans, add-ons, overrides, budgets and subscriptions', { timeout: 180_000 }, async () => {
    const [small, large] = [await newPlan(100), await newPlan(400)];
    const { customerId, subscriptionId } = await newCustomer(small);
    await use(customerId, 90);
    await becomes(customerId, { share: 0.9, current: 90, limit: 100 });
    await use(customerId, 30);
    await becomes(customerId, { share: 1.2, current: 120 });
    await call('PUT', `/plans/${small}/entitlements`, { entitlements: [{ featureKey: 'api', value: 150 }] });
    await becomes(customerId, { share: 0.8, limit: 150 });
    const addon = await call('POST', '/addons', { key: 'more', name: 'More' });
    await call('PUT', `/addons/${addon.id}/entitlements`, {
      entitlements: [{ featureKey: 'api', value: 90 }],
    });
    await call('PUT', `/subscriptions/${subscriptionId}/addons/${addon.id}`, { quantity: 1 });
    await becomes(customerId, { share: 0.5, limit: 240 });
    await call('PUT', `/customers/${customerId}/overrides/api`, { value: 120 });
    await becomes(customerId, { share: 1, limit: 120 });
    await call('PUT', `/customers/${customerId}/overrides/api`, { value: 480 });
    await becomes(customerId, { share: 0.25, limit: 480 });
    // Once the level was seen: how long that takes is the machine's doing.
    const expiresAt = new Date(Date.now() + 3_000).toISOString();
    await call('PUT', `/customers/${customerId}/overrides/api`, { value: 480, expiresAt });
    await becomes(customerId, { share: 0.5, limit: 240 });
    await call('PUT', `/customers/${customerId}/budgets/calls`, { soft: 100, hard: 160 });
    await becomes(customerId, { share: 0.75, budget: 160 });
    await call('DELETE', `/customers/${customerId}/budgets/calls`);
    await becomes(customerId, { share: 0.5 });
    expect(await levelOf(customerId)).not.toHaveProperty('budget');
    await call('PATCH', `/subscriptions/${subscriptionId}`, { planId: large });
    await becomes(customerId, { limit: 490 });
    await call('POST', `/subscriptions/${subscriptionId}/cancel`, { at: 'now' });
    await becomes(customerId, undefined);
  });

  it('are without customers that are unlimited or have used nothing', async () => {
    const [limited, unlimited] = [await newPlan(10), await newPlan(null)];
    const [idle, free, last] = [
      await newCustomer(limited),
      await newCustomer(unlimited),
      await newCustomer(limited),
    ];
    await use(free.customerId, 5);
    await use(last.customerId, 5);
    await becomes(last.customerId, { share: 0.5 });
    for (const { customerId } of [idle, free]) expect(await levelOf(customerId)).toBeUndefined();
  });
});

describe('a live stream of an instance', () => {
  it('has an event within seconds, and does not hold up a stop', { timeout: 60_000 }, async () => {
    const { customerId } = await newCustomer(await newPlan(1));
    const abort = new AbortController();
    onTestFinished(() => abort.abort());
    const url = `${instance.origin}/api/v1/usage/live?customerId=${customerId}`;
    const response = await request(url, { headers, signal: abort.signal });
    let text = '';
    const over = (async () => {
      for await (const chunk of response.body) text += String(chunk);
    })().catch(() => undefined);
    await use(customerId, 7);
    await vi.waitFor(() => expect(text).toMatch(/event: usage\ndata: .*"value":7,/), WAIT);
    const elapsedMs = startStopwatch();
    await instance.stop();
    await over;
    expect(elapsedMs()).toBeLessThan(14_000);
  });
});
