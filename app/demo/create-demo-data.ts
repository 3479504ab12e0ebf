import { setImmediate } from 'node:timers/promises';
import type { PrivateTargets } from '../../infra/platform/private-targets.ts';
import { Defect } from '../../schemas/failures.ts';
import { USAGE_LIMITS } from '../../schemas/usage-limits.ts';
import type { Call } from './api-client.ts';
import { createCatalogue } from './create-catalogue.ts';
import { createAgreements, createCustomers, moveSubscriptions } from './create-customers.ts';
import { createFunnel } from './create-funnel.ts';
import { CUSTOMERS } from './customers.ts';
import { type DemoEvent, usageEvents } from './usage-events.ts';

export interface DemoData {
  call: Call;
  /** The time that everything is relative to: the same each time that this is continued. */
  nowMs: number;
  webhookTargets: PrivateTargets;
}

/**
 * Creates the demo's data with the public API alone. Each request names what it makes, by an Idempotency-Key
 * or in its path, and a repeated one changes nothing: what was interrupted is continued by doing it again.
 */
export async function createDemoData({ call, nowMs, webhookTargets }: DemoData): Promise<{ events: number }> {
  const planIds = await createCatalogue(call);
  await createFunnel(call, planIds);
  const subscriptionIds = await createCustomers({ call, nowMs, planIds });
  await createEndpoints(call, webhookTargets);
  await createAgreements(call, nowMs);
  const events = await sendUsage(call, nowMs);
  await moveSubscriptions(call, subscriptionIds);
  return { events };
}

/** A port that no server listens on; where loopback addresses are not allowed, a name that never exists. */
const UNREACHABLE: Record<PrivateTargets, string> = {
  all: 'http://127.0.0.1:9',
  loopback: 'http://127.0.0.1:9',
  none: 'https://metergate-demo.invalid',
};

/** Two receivers to learn from: one that is down, and one that was switched off. */
async function createEndpoints(call: Call, targets: PrivateTargets): Promise<void> {
  const origin = UNREACHABLE[targets];
  await call('createWebhookEndpoint', {
    body: {
      url: `${origin}/billing`,
      events: ['usage.threshold', 'credit.granted', 'credit.depleted', 'subscription.canceled'],
    },
    key: 'demo/endpoint/billing',
  });
  const { id: endpointId } = await call('createWebhookEndpoint', {
    body: { url: `${origin}/crm`, events: ['credit.granted', 'subscription.canceled'] },
    key: 'demo/endpoint/crm',
  });
  await call('webhookEndpoints.update', { params: { endpointId }, body: { status: 'disabled' } });
}

/** As a product would send it: in batches, in the order of time. */
async function sendUsage(call: Call, nowMs: number): Promise<number> {
  const events: DemoEvent[] = [];
  for (const customer of CUSTOMERS) {
    events.push(...usageEvents(customer, 'api-calls', nowMs), ...usageEvents(customer, 'ai-tokens', nowMs));
    // Requests are served meanwhile.
    await setImmediate();
  }
  const timeOf = ({ occurredAt = '' }: DemoEvent) => Date.parse(occurredAt);
  events.sort((a, b) => timeOf(a) - timeOf(b));
  for (let from = 0; from < events.length; from += USAGE_LIMITS.batchItemsMax) {
    const batch = events.slice(from, from + USAGE_LIMITS.batchItemsMax);
    const { results } = await call('usage.submitBatch', { body: { events: batch } });
    const faulty = results.find(({ error }) => error !== undefined && error.code !== TOO_OLD);
    if (faulty) throw new Defect(`usage.submitBatch: ${faulty.error?.code} ${faulty.error?.message}`);
  }
  return events.length;
}

/** EVENT_AGE_DAYS_MAX may be less than a month. */
const TOO_OLD = 'event_too_old';
