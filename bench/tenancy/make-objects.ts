import { splitEnvironment } from '../../schemas/environment.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import type { Objects } from './tenant-requests.ts';
import type { WatchedClient } from './watched-client.ts';

/** Stands in every text of a tenant that no request of ours repeats. */
export function markerOf(tenant: string): string {
  return `Of-${tenant}-only`;
}

/** One environment and a key that may do everything in it. */
export interface Tenant {
  name: string;
  environment: string;
  key: string;
}

/** One of everything in an environment. */
export async function makeObjects(client: WatchedClient, tenant: Tenant): Promise<Objects> {
  const { name, environment, key } = tenant;
  const marker = markerOf(name);
  const make = async (operationId: OperationId, body?: object, named: Record<string, string> = {}) => {
    const route = ROUTES[operationId];
    const path = route.path.replace(/\{(\w+)\}/g, (_, param: string) => named[param] ?? '');
    const answer = await client.ask({ operationId, route, path, body }, key);
    if (answer.status >= 300) throw new Error(`${operationId}: ${answer.status} ${answer.text}`);
    return answer.text === '' ? undefined : JSON.parse(answer.text);
  };
  const email = `${marker}@example.com`;
  const customer = await make('customers.create', { name: marker, email, metadata: { note: marker } });
  const product = await make('products.create', { name: marker });
  const meter = await make('meters.create', { key: `calls-${name}`, name: marker, aggregation: 'sum' });
  const feature = await make('features.create', {
    key: `feature-${name}`,
    name: marker,
    type: 'metered',
    meterKey: meter.key,
  });
  const plan = await make('createPlan', { productId: product.id, name: marker });
  const addon = await make('addons.create', { key: `addon-${name}`, name: marker });
  const entitlements = [{ featureKey: feature.key, value: 5 }];
  await make('plans.replaceEntitlements', { entitlements }, { planId: plan.id });
  await make('addons.replaceEntitlements', { entitlements }, { addonId: addon.id });
  const subscription = await make('subscriptions.create', {
    customerId: customer.id,
    planId: plan.id,
    addons: [{ addonId: addon.id, quantity: 1 }],
    metadata: { note: marker },
  });
  const apiKey = await make('apiKeys.create', { kind: 'secret', scopes: ['plans:read'], name: marker });
  await make('createWebhookEndpoint', { url: `https://example.com/${marker}`, events: ['*'] });
  await make('funnel.record', { event: 'widget_view', sessionId: marker });
  await make('usage.submit', { customerId: customer.id, meterId: meter.key, value: 7 });
  const events = await make('webhookEvents.list');
  return {
    customerId: customer.id,
    planId: plan.id,
    productId: product.id,
    featureKey: feature.key,
    meterId: meter.id,
    meterKey: meter.key,
    addonId: addon.id,
    subscriptionId: subscription.id,
    keyId: apiKey.id,
    eventId: events.data[0].id,
    ...splitEnvironment(environment),
  };
}
