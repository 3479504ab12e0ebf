import { expect } from 'vitest';
import { newId } from '../../schemas/primitives/ids.ts';
import type { TestEvent } from '../../tests/support/event-line.ts';
import { isoText, type UsageUnderTest } from '../usage/usage-under-test.ts';

const DAY_MS = 86_400_000;

/** Plans with prices and their subscribers, over HTTP, with usage that is loaded. */
export function costUnderTest(usage: UsageUnderTest) {
  const { api, nowMs } = usage;
  /** Midnight, so many days from today. */
  const at = (days: number) => Math.floor(nowMs / DAY_MS) * DAY_MS + days * DAY_MS;
  let loaded = 0;

  /** Of the `sum` and `count` meters. */
  async function use(customerId: string, meterKey: string, events: Array<Partial<TestEvent>>): Promise<void> {
    const logged = events.map((event): TestEvent => {
      loaded += 1;
      const id = `use_${String(loaded).padStart(26, 'q')}`;
      const own = { environment: usage.environment, customerId, meterKey, properties: {}, uniqueValue: '' };
      return { ...own, id, createdAtMs: nowMs, ...event };
    });
    await usage.load(await usage.append(logged));
  }

  async function newPlan(
    prices: object[],
    entitlements: object[] = [],
  ): Promise<{ id: string; key: string }> {
    const { body: plan } = await api.request('createPlan', { body: { productId: 'p', name: newId('plan') } });
    const params = { planId: plan.id };
    await api.request('plans.replaceEntitlements', { params, body: { entitlements } });
    expect((await api.request('plans.replacePrices', { params, body: { prices } })).status).toBe(200);
    await api.request('plans.publish', { params });
    return plan;
  }

  async function newAddon(prices: object[]): Promise<string> {
    const key = newId('addon').replace('_', '-');
    const { body } = await api.request('addons.create', { body: { key, name: key } });
    await api.request('addons.replacePrices', { params: { addonId: body.id }, body: { prices } });
    return key;
  }

  /** On a plan since ten days ago, in a period of 20 days. */
  async function subscribed(planId: string, fields: object = {}) {
    const body = { name: 'Ada', email: 'ada@example.com' };
    const { body: customer } = await api.request('customers.create', { body });
    const period = { currentPeriodStart: isoText(at(-10)), currentPeriodEnd: isoText(at(10)) };
    const term = { ...period, interval: 'day', intervalCount: 20 };
    const { body: subscription, status } = await api.request('subscriptions.create', {
      body: { customerId: customer.id, planId, ...term, ...fields },
    });
    expect(status).toBe(201);
    return { customerId: customer.id, subscriptionId: subscription.id };
  }

  const costOf = async (subscriptionId: string, query: Record<string, string> = {}) => {
    const { body } = await api.request('cost.ofSubscription', { params: { subscriptionId }, query });
    return body;
  };

  return { at, use, newPlan, newAddon, subscribed, costOf };
}
