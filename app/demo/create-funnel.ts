import type { Call } from './api-client.ts';
import type { PlanKey } from './catalogue.ts';
import { CUSTOMERS, type DemoCustomer } from './customers.ts';
import { inGroups } from './in-groups.ts';

const VIEWS = 64;
const CHECKOUTS = 21;
const ACTIVATED = 8;
/** The customers that came by the pricing page; the others came by sales. */
const ACTIVATED_EVERY = 3;

/** Of the customer's visit to the pricing page; undefined for one that came another way. */
export function sessionOf(customer: DemoCustomer): string | undefined {
  const at = CUSTOMERS.indexOf(customer);
  const isOnline = at % ACTIVATED_EVERY === 0 && at / ACTIVATED_EVERY < ACTIVATED;
  return isOnline ? sessionName(at / ACTIVATED_EVERY) : undefined;
}

function sessionName(at: number): string {
  return `demo-visit-${at + 1}`;
}

/** What the pricing page reported before the customers subscribed: the first visits led to that. */
export async function createFunnel(call: Call, planIds: ReadonlyMap<PlanKey, string>): Promise<void> {
  const bought = new Map(CUSTOMERS.map((customer) => [sessionOf(customer), customer.plan]));
  const visits = Array.from({ length: VIEWS }, (_, at) => at);
  await inGroups(visits, async (at) => {
    const sessionId = sessionName(at);
    await call('funnel.record', { body: { event: 'widget_view', sessionId }, key: `demo/view/${at}` });
    if (at >= CHECKOUTS) return;
    const planId = planIds.get(bought.get(sessionId) ?? 'pro');
    const body = { event: 'checkout_started', sessionId, ...(planId ? { planId } : {}) } as const;
    await call('funnel.record', { body, key: `demo/checkout/${at}` });
  });
}
