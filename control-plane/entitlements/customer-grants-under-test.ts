import { expect } from 'vitest';
import type { OperationId } from '../../schemas/routes.ts';
import type { ApiResponse, ApiUnderTest } from '../api-under-test.ts';

/** The value of a feature in a plan or an add-on; as JSON text where a double would round it. */
export type Given = Record<string, unknown>;

/** Customers with plans and add-ons, all created through the API. */
export function customerGrantsUnderTest(api: ApiUnderTest) {
  let made = 0;

  async function done(operationId: OperationId, input: object): Promise<ApiResponse['body']> {
    const response: ApiResponse = await api.request(operationId, input);
    expect(response.status, response.text).toBeLessThan(300);
    return response.body;
  }

  const feature = (key: string, type: string, meterKey?: string) =>
    done('features.create', { body: { key, name: key, type, ...(meterKey ? { meterKey } : {}) } });

  async function plan(given: Given = {}): Promise<string> {
    made += 1;
    const { id } = await done('createPlan', { body: { productId: 'p', name: `Plan ${made}` } });
    await done('plans.replaceEntitlements', { params: { planId: id }, body: setOf(given) });
    return id;
  }

  return {
    plan,
    customer: async (): Promise<string> => (await done('customers.create', {})).id,
    feature,
    /** Types by key. */
    async features(types: Record<string, string>): Promise<void> {
      for (const [key, type] of Object.entries(types)) await feature(key, type);
    },
    /** With a meter of the same key, which sums. */
    async meteredFeature(key: string): Promise<void> {
      await done('meters.create', { body: { key, name: key, aggregation: 'sum' } });
      await feature(key, 'metered', key);
    },
    addon: async (key: string, given: Given): Promise<string> => {
      const { id } = await done('addons.create', { body: { key, name: key } });
      await done('addons.replaceEntitlements', { params: { addonId: id }, body: setOf(given) });
      return id;
    },
    giveInstead: (planId: string, given: Given) =>
      done('plans.replaceEntitlements', { params: { planId }, body: setOf(given) }),
    /** To a new plan that gives this, unless `fields` name one. */
    async subscribe(customerId: string, given: Given, fields: object = {}): Promise<string> {
      const planId = 'planId' in fields ? fields.planId : await plan(given);
      return (await done('subscriptions.create', { body: { customerId, planId, ...fields } })).id;
    },
    change: (subscriptionId: string, body: object) =>
      done('subscriptions.update', { params: { subscriptionId }, body }),
    cancel: (subscriptionId: string, at: 'now' | 'period_end') =>
      done('subscriptions.cancel', { params: { subscriptionId }, body: { at } }),
    override: (customerId: string, featureKey: string, body: object) =>
      done('overrides.put', { params: { customerId, featureKey }, body }),
    list: async (customerId: string) => {
      const response = await api.request('entitlements.list', { params: { customerId } });
      expect(response.status).toBe(200);
      return response.body;
    },
    check: async (customerId: string, featureKey: string, query: Record<string, string | number> = {}) => {
      const response = await api.request('entitlements.check', { params: { customerId, featureKey }, query });
      expect(response.status).toBe(200);
      return response.body;
    },
  };
}

/** `{value, soft}` makes it soft. */
function setOf(given: Given) {
  const entitlements = Object.entries(given).map(([featureKey, value]) =>
    typeof value === 'object' && value !== null ? { featureKey, ...value } : { featureKey, value },
  );
  return { entitlements };
}
