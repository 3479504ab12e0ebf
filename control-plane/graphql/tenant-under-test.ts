import { expect } from 'vitest';
import type { Route } from '../../schemas/route.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import type { ApiUnderTest } from '../api-under-test.ts';
import type { ArgumentOf } from './schema-walk-under-test.ts';

/** One of everything in an environment. Every text of it contains its name. */
export interface Tenant {
  name: string;
  key: string;
  customerId: string;
  planId: string;
  productId: string;
  featureKey: string;
  meterKey: string;
  addonId: string;
  subscriptionId: string;
  keyId: string;
  endpointId: string;
  deliveryId: string;
  eventId: string;
}

export async function makeTenant(api: ApiUnderTest, name: string, key: string): Promise<Tenant> {
  // biome-ignore lint/suspicious/noExplicitAny: each caller reads the fields of its own operation
  async function make(id: OperationId, body?: object, params: Record<string, string> = {}): Promise<any> {
    const route: Route = ROUTES[id];
    const path = route.path.replace(/\{(\w+)\}/g, (_, param: string) => params[param] ?? '');
    const response = await api.call(route.method, path, { key, ...(body ? { body } : {}) });
    expect(response.status, response.text).toBeLessThan(300);
    return response.body;
  }
  const email = `${name}@example.com`;
  const { id: customerId } = await make('customers.create', { name, email, metadata: { note: name } });
  const { id: productId } = await make('products.create', { id: `product-${name}`, name });
  const { key: meterKey } = await make('meters.create', { key: `calls-${name}`, name, aggregation: 'sum' });
  const feature = { key: `feature-${name}`, name, type: 'metered', meterKey };
  const { key: featureKey } = await make('features.create', feature);
  const { id: planId } = await make('createPlan', { productId, name });
  const { id: addonId } = await make('addons.create', { key: `addon-${name}`, name });
  const given = { entitlements: [{ featureKey, value: 5 }] };
  await make('plans.replaceEntitlements', given, { planId });
  await make('addons.replaceEntitlements', given, { addonId });
  const price = { currency: 'EUR', interval: 'month', model: 'per_unit', unitAmount: 1, meterKey };
  await make('plans.replacePrices', { prices: [{ key: name, ...price }] }, { planId });
  await make('addons.replacePrices', { prices: [{ key: name, ...price }] }, { addonId });
  const addons = [{ addonId, quantity: 1 }];
  const { id: subscriptionId } = await make('subscriptions.create', { customerId, planId, addons });
  await make('overrides.put', { value: 50, reason: name }, { customerId, featureKey });
  await make('budgets.put', { hard: 1000 }, { customerId, meterKey });
  await make('credits.grant', { amount: 5, reason: name }, { customerId });
  const { id: keyId } = await make('apiKeys.create', { kind: 'secret', scopes: ['plans:read'], name });
  const url = `https://example.com/${name}`;
  const { id: endpointId } = await make('createWebhookEndpoint', { url, events: ['*'] });
  const { id: deliveryId } = await make('webhookEndpoints.test', undefined, { endpointId });
  const eventId = (await make('webhookEvents.list')).data[0].id;
  await make('funnel.record', { event: 'widget_view', sessionId: name, planId });
  const ids = { customerId, planId, productId, featureKey, meterKey, addonId, subscriptionId, keyId };
  return { name, key, ...ids, endpointId, deliveryId, eventId };
}

/** The arguments that name an object, with the object that they name. */
export const NAMING: Record<string, keyof Tenant> = {
  'Query.customer.id': 'customerId',
  'Query.subscriptions.customerId': 'customerId',
  'Query.subscriptions.planId': 'planId',
  'Query.subscription.id': 'subscriptionId',
  'Query.plans.productId': 'productId',
  'Query.plan.id': 'planId',
  'Query.feature.key': 'featureKey',
  'Query.addon.id': 'addonId',
  'Query.meter.key': 'meterKey',
  'Query.webhookEndpoint.id': 'endpointId',
  'Query.webhookDelivery.id': 'deliveryId',
  'Query.webhookEvent.id': 'eventId',
  'Query.webhookDeliveries.endpointId': 'endpointId',
  'Query.usageLevels.featureKey': 'featureKey',
  'Query.apiKey.id': 'keyId',
  'Query.auditLog.objectId': 'customerId',
  'Query.auditLog.customerId': 'customerId',
  'Query.auditLog.actor': 'keyId',
  'Query.funnel.planId': 'planId',
  'Customer.entitlements.featureKeys': 'featureKey',
  'Customer.counter.meterKey': 'meterKey',
  'Customer.breakdown.meterKey': 'meterKey',
  'Customer.usageEvents.meterKey': 'meterKey',
};

/** The arguments that a query needs and that name no object. */
const PLAIN: Record<string, string> = {
  'Customer.breakdown.dimension': 'region',
  'Meter.usage.from': '2026-01-01T00:00:00Z',
  'Meter.usage.to': '2026-02-01T00:00:00Z',
};

/** The values that a query needs, all of this tenant's objects but the one named `foreign`. */
export function argumentsOf(own: Tenant, foreign?: { argument: string; of: Tenant }): ArgumentOf {
  return (argument) => {
    const plain = PLAIN[argument];
    if (plain !== undefined) return JSON.stringify(plain);
    const object = NAMING[argument];
    if (object === undefined) return undefined;
    if (argument === foreign?.argument) return JSON.stringify(foreign.of[object]);
    return OPTIONAL.has(argument) ? undefined : JSON.stringify(own[object]);
  };
}

/** Filters, which nothing then passes. */
export const OPTIONAL: ReadonlySet<string> = new Set([
  'Query.subscriptions.customerId',
  'Query.subscriptions.planId',
  'Query.plans.productId',
  'Query.auditLog.objectId',
  'Query.auditLog.customerId',
  'Query.auditLog.actor',
  'Query.funnel.planId',
  'Query.webhookDeliveries.endpointId',
  'Query.usageLevels.featureKey',
  'Customer.entitlements.featureKeys',
]);
