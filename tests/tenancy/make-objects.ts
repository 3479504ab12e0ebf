import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { splitEnvironment } from '../../schemas/primitives/environment.ts';
import { type OperationId, ROUTES } from '../../schemas/routes.ts';
import type { Objects } from './tenant-requests.ts';
import type { WatchedClient } from './watched-client.ts';

/** Part of every text of a tenant that no request of ours repeats. */
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
  const make: Make = async (operationId, body, named = {}, headers = {}) => {
    const route = ROUTES[operationId];
    const path = route.path.replace(/\{(\w+)\}/g, (_, param: string) => named[param] ?? '');
    const response = await client.ask({ operationId, route, path, body, headers }, key);
    if (response.status >= 300) throw new Error(`${operationId}: ${response.status} ${response.text}`);
    return response.text === '' ? undefined : JSON.parse(response.text);
  };
  const email = `${marker}@example.com`;
  const customer = await make('customers.create', { name: marker, email, metadata: { note: marker } });
  const product = await make('products.create', { name: marker });
  const meter = await make('meters.create', { key: `calls-${name}`, name: marker, aggregation: 'sum' });
  const metered = { key: `feature-${name}`, name: marker, type: 'metered', meterKey: meter.key };
  const feature = await make('features.create', metered);
  const plan = await make('createPlan', { productId: product.id, name: marker });
  const addon = await make('addons.create', { key: `addon-${name}`, name: marker });
  await offer(make, { planId: plan.id, addonId: addon.id }, [feature.key, meter.key]);
  const subscription = await make('subscriptions.create', {
    customerId: customer.id,
    planId: plan.id,
    addons: [{ addonId: addon.id, quantity: 1 }],
    metadata: { note: marker },
  });
  const overridden = { customerId: customer.id, featureKey: feature.key };
  await make('overrides.put', { value: 50, reason: marker }, overridden);
  await make('budgets.put', { hard: 1000 }, { customerId: customer.id, meterKey: meter.key });
  const grant = await make('credits.grant', { amount: 5, reason: marker }, { customerId: customer.id });
  const apiKey = await make('apiKeys.create', { kind: 'secret', scopes: ['plans:read'], name: marker });
  const endpointId = await makeEndpoint(make, marker);
  const processorEventId = await makeProcessorEvent(make, { marker, environment });
  await make('funnel.record', { event: 'widget_view', sessionId: marker });
  const usageOf = { customerId: customer.id, meterId: meter.key };
  const usage = await make('usage.submit', { ...usageOf, value: 7 });
  const simulationId = await simulate(make, { planId: plan.id, customerIds: [customer.id] });
  const reservationId = await reserve(make, overridden, marker);
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
    eventId: (await make('webhookEvents.list')).data[0].id,
    endpointId,
    deliveryId: (await make('webhookDeliveries.list', undefined, { endpointId })).data[0].id,
    processorEventId,
    simulationId,
    reservationId,
    usageEventId: usage.id,
    grantId: grant.id,
    correctionId: await correct(make, usageOf, marker),
    ...splitEnvironment(environment),
  };
}

type Make = (
  operationId: OperationId,
  body?: object | string,
  named?: Record<string, string>,
  headers?: Record<string, string>,
  // biome-ignore lint/suspicious/noExplicitAny: each caller reads the fields of its own operation
) => Promise<any>;

/** One that stays open. */
async function reserve(make: Make, of: { customerId: string; featureKey: string }, note: string) {
  const held = { ...of, amount: 1, properties: { note }, expiresInSeconds: 86_400 };
  const { id } = await make('reservations.create', held);
  return id as string;
}

/** Of an event of its own. */
async function correct(make: Make, of: { customerId: string; meterId: string }, reason: string) {
  const { id: usageEventId } = await make('usage.submit', { ...of, value: 1 });
  const { correctionId } = await make('usageCorrections.void', { reason }, { usageEventId });
  return correctionId as string;
}

/** One that is completed, so that it changes no more. */
async function simulate(make: Make, of: { planId: string; customerIds: string[] }): Promise<string> {
  const span = { from: '2026-10-01T00:00:00Z', to: '2026-11-01T00:00:00Z' };
  const { id: simulationId } = await make('simulations.create', { ...of, ...span });
  for (let tries = 0; tries < 600; tries += 1) {
    const { status } = await make('simulations.retrieve', undefined, { simulationId });
    if (status === 'completed') return simulationId;
    await delay(100);
  }
  throw new Error('The simulation has not completed within a minute.');
}

/** One that waits. The secret that signs it is no longer known afterwards. */
async function makeProcessorEvent(
  make: Make,
  { marker, environment }: { marker: string; environment: string },
): Promise<string> {
  const secret = randomBytes(24).toString('base64url');
  await make('connectProcessor', { action: 'set_webhook_secret', secret });
  const { id, body, headers } = signedEvent({ marker, secret, isLive: environment.endsWith(':live') });
  await make('processor.receiveEvent', body, splitEnvironment(environment), headers);
  await make('connectProcessor', { action: 'disconnect' });
  return id;
}

/** With a delivery. It is disabled, so that nothing of it changes by itself; no server listens at its url. */
async function makeEndpoint(make: Make, marker: string): Promise<string> {
  const url = `http://127.0.0.1:9/${marker}`;
  const { id: endpointId } = await make('createWebhookEndpoint', { url, events: ['*'] });
  await make('webhookEndpoints.test', undefined, { endpointId });
  await make('webhookEndpoints.update', { status: 'disabled' }, { endpointId });
  return endpointId;
}

/** An event of the payment processor about a subscription that is not linked, with its signature. */
function signedEvent({ marker, secret, isLive }: { marker: string; secret: string; isLive: boolean }) {
  const id = `evt_${randomUUID()}`;
  const seconds = Math.floor(Date.now() / 1000);
  const object = { id: `sub_${marker}`, status: 'active', customer: `cus_${marker}` };
  const body = JSON.stringify({
    id,
    type: 'customer.subscription.updated',
    created: seconds,
    livemode: isLive,
    data: { object },
  });
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return { id, body, headers: { 'stripe-signature': `t=${seconds},v1=${signature}` } };
}

/** Entitlements, prices and credit grants of a plan and an add-on. */
async function offer(
  make: Make,
  { planId, addonId }: { planId: string; addonId: string },
  [featureKey, meterKey]: [string, string],
): Promise<void> {
  const entitlements = [{ featureKey, value: 5 }];
  await make('plans.replaceEntitlements', { entitlements }, { planId });
  await make('addons.replaceEntitlements', { entitlements }, { addonId });
  const price = { key: 'use', currency: 'EUR', interval: 'month', model: 'per_unit', unitAmount: 1 };
  const prices = [{ ...price, meterKey }];
  await make('plans.replacePrices', { prices }, { planId });
  await make('addons.replacePrices', { prices }, { addonId });
  const creditGrants = [{ key: 'monthly', amount: 9, every: 'month', expires: 'period_end' }];
  await make('plans.replaceCreditGrants', { creditGrants }, { planId });
}
